#include "driver/api/board_clock.hpp"

#include <datum/hw/registers.hpp>
#include <datum/ze_datum.h>

#include "driver/api/handles.hpp"
#include "driver/object/device.hpp"

namespace datum::api {
namespace {

ze_result_t ZE_APICALL get_board_clock(ze_device_handle_t hDevice, zex_datum_board_clock_t* pClock) noexcept {
  Device* const device = find<Device>(hDevice);
  if (device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (pClock == nullptr) {
    return refuse_null_pointer("pClock");
  }
  Board& board = device->board();
  const std::uint64_t cycles = board.read64(hw::cycles);
  const std::uint64_t timer = board.read_timer();
  // All ones is also what a board that is gone answers: only then is it asked.
  if (cycles == ~0ULL) {
    if (const Status alive = board.health(); !alive) {
      return answer(alive);
    }
  }
  *pClock = {cycles, timer, board.capabilities().clock_hz, board.capabilities().timer_hz};
  return ZE_RESULT_SUCCESS;
}

}  // namespace

void* find_datum_extension(std::string_view name) noexcept {
  if (name == ZEX_DATUM_DEVICE_GET_BOARD_CLOCK) {
    return reinterpret_cast<void*>(&get_board_clock);
  }
  return nullptr;
}

}  // namespace datum::api
