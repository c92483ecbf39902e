#include "tests/soak/management.hpp"

#include <vector>

#include <level_zero/zes_api.h>

#include "tests/soak/verdict.hpp"

namespace datum::soak {
namespace {

std::vector<zes_device_handle_t> find_boards() {
  check(zesInit(0), "zesInit");
  std::uint32_t count = 0;
  check(zesDriverGet(&count, nullptr), "zesDriverGet");
  std::vector<zes_driver_handle_t> drivers(count);
  check(zesDriverGet(&count, drivers.data()), "zesDriverGet");
  require(count == 1, "the soak is for one driver");
  count = 0;
  check(zesDeviceGet(drivers.front(), &count, nullptr), "zesDeviceGet");
  std::vector<zes_device_handle_t> boards(count);
  check(zesDeviceGet(drivers.front(), &count, boards.data()), "zesDeviceGet");
  return boards;
}

const std::vector<zes_device_handle_t>& boards() {
  static const std::vector<zes_device_handle_t> found = find_boards();
  return found;
}

}  // namespace

ze_result_t reset_board(std::size_t number, bool force) {
  return zesDeviceReset(boards().at(number), force ? 1 : 0);
}

std::uint64_t used_device_bytes() {
  std::uint64_t bytes = 0;
  for (const zes_device_handle_t board : boards()) {
    std::uint32_t count = 0;
    check(zesDeviceEnumMemoryModules(board, &count, nullptr), "zesDeviceEnumMemoryModules");
    std::vector<zes_mem_handle_t> modules(count);
    check(zesDeviceEnumMemoryModules(board, &count, modules.data()), "zesDeviceEnumMemoryModules");
    for (const zes_mem_handle_t module : modules) {
      zes_mem_state_t state{};
      state.stype = ZES_STRUCTURE_TYPE_MEM_STATE;
      check(zesMemoryGetState(module, &state), "zesMemoryGetState");
      bytes += state.size - state.free;
    }
  }
  return bytes;
}

}  // namespace datum::soak
