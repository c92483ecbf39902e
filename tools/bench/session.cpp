#include "tools/bench/session.hpp"

#include <cstdlib>

#include <fmt/format.h>

namespace datum::bench {

void check(ze_result_t result, const char* call) {
  if (result != ZE_RESULT_SUCCESS) {
    throw Failure(fmt::format("{} failed with 0x{:08x}", call, static_cast<unsigned>(result)));
  }
}

void choose_board(const std::string& board) {
  ::setenv("DATUM_BOARDS", board.c_str(), 0);
  ::setenv("ZE_ENABLE_ALT_DRIVERS", DATUM_DRIVER_FILE, 0);
}

Session::Session(const std::string& board) {
  choose_board(board);
  ze_init_driver_type_desc_t types{};
  types.stype = ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC;
  types.flags = UINT32_MAX;
  std::uint32_t count = 1;
  check(zeInitDrivers(&count, &driver_, &types), "zeInitDrivers");
  count = 1;
  check(zeDeviceGet(driver_, &count, &device_), "zeDeviceGet");
  ze_context_desc_t context{};
  context.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
  check(zeContextCreate(driver_, &context, &context_), "zeContextCreate");
  ze_command_queue_desc_t queue{};
  queue.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  queue.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  check(zeCommandListCreateImmediate(context_, device_, &queue, &list_), "zeCommandListCreateImmediate");
  void* function = nullptr;
  if (zeDriverGetExtensionFunctionAddress(driver_, ZEX_DATUM_DEVICE_GET_BOARD_CLOCK, &function) ==
      ZE_RESULT_SUCCESS) {
    get_board_clock_ = reinterpret_cast<zex_datum_pfnDeviceGetBoardClock_t>(function);
  }
}

Session::~Session() {
  zeCommandListDestroy(list_);
  zeContextDestroy(context_);
}

void* Session::allocate_device(std::size_t bytes) const {
  ze_device_mem_alloc_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
  void* pointer = nullptr;
  check(zeMemAllocDevice(context_, &desc, bytes, 0, device_, &pointer), "zeMemAllocDevice");
  return pointer;
}

void* Session::allocate_host(std::size_t bytes) const {
  ze_host_mem_alloc_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
  void* pointer = nullptr;
  check(zeMemAllocHost(context_, &desc, bytes, 0, &pointer), "zeMemAllocHost");
  return pointer;
}

void* Session::allocate_shared(std::size_t bytes) const {
  ze_device_mem_alloc_desc_t device_desc{};
  device_desc.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
  ze_host_mem_alloc_desc_t host_desc{};
  host_desc.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
  void* pointer = nullptr;
  check(zeMemAllocShared(context_, &device_desc, &host_desc, bytes, 0, device_, &pointer),
        "zeMemAllocShared");
  return pointer;
}

void Session::copy(void* to, const void* from, std::size_t bytes) const {
  check(zeCommandListAppendMemoryCopy(list_, to, from, bytes, nullptr, 0, nullptr),
        "zeCommandListAppendMemoryCopy");
  check(zeCommandListHostSynchronize(list_, UINT64_MAX), "zeCommandListHostSynchronize");
}

void Session::free(void* pointer) const { check(zeMemFree(context_, pointer), "zeMemFree"); }

std::uint64_t Session::copy_cycles(void* to, const void* from, std::size_t bytes) const {
  const std::uint64_t before = board_clock().cycles;
  copy(to, from, bytes);
  return board_clock().cycles - before;
}

zex_datum_board_clock_t Session::board_clock() const {
  if (get_board_clock_ == nullptr) {
    throw Failure("this driver has no zexDatumDeviceGetBoardClock");
  }
  zex_datum_board_clock_t clock{};
  check(get_board_clock_(device_, &clock), "zexDatumDeviceGetBoardClock");
  return clock;
}

}  // namespace datum::bench
