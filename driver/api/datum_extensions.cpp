#include "driver/api/datum_extensions.hpp"

#include <fmt/format.h>

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

/// What of one register an application asked for; a register is a word of 4 or 8 bytes.
ze_result_t check_register(Board& board, std::uint64_t offset, std::uint32_t bytes) noexcept {
  if (bytes != sizeof(std::uint32_t) && bytes != sizeof(std::uint64_t)) {
    return refuse(ZE_RESULT_ERROR_INVALID_SIZE, "a register has 4 or 8 bytes");
  }
  const std::uint64_t end = board.function().info().bars[0].size_bytes;
  if (offset % bytes != 0 || offset >= end) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("offset {:#x}: a register of {} bytes lies at a multiple of them below {:#x}",
                              offset, bytes, end));
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL read_register(ze_device_handle_t hDevice, std::uint64_t offset, std::uint32_t bytes,
                                     std::uint64_t* pValue) noexcept {
  Device* const device = find<Device>(hDevice);
  if (device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (pValue == nullptr) {
    return refuse_null_pointer("pValue");
  }
  Board& board = device->board();
  if (const ze_result_t checked = check_register(board, offset, bytes); checked != ZE_RESULT_SUCCESS) {
    return checked;
  }
  *pValue = bytes == sizeof(std::uint32_t) ? board.read32(offset) : board.read64(offset);
  return ZE_RESULT_SUCCESS;
}

ze_result_t ZE_APICALL write_register(ze_device_handle_t hDevice, std::uint64_t offset, std::uint32_t bytes,
                                      std::uint64_t value) noexcept {
  Device* const device = find<Device>(hDevice);
  if (device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  Board& board = device->board();
  if (const ze_result_t checked = check_register(board, offset, bytes); checked != ZE_RESULT_SUCCESS) {
    return checked;
  }
  if (bytes == sizeof(std::uint32_t)) {
    if (value > UINT32_MAX) {
      return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the value has more than the register's 32 bits");
    }
    board.write32(offset, static_cast<std::uint32_t>(value));
  } else {
    board.write64(offset, value);
  }
  return ZE_RESULT_SUCCESS;
}

}  // namespace

void* find_datum_extension(std::string_view name) noexcept {
  if (name == ZEX_DATUM_DEVICE_GET_BOARD_CLOCK) {
    return reinterpret_cast<void*>(&get_board_clock);
  }
  if (name == ZEX_DATUM_DEVICE_READ_REGISTER) {
    return reinterpret_cast<void*>(&read_register);
  }
  if (name == ZEX_DATUM_DEVICE_WRITE_REGISTER) {
    return reinterpret_cast<void*>(&write_register);
  }
  return nullptr;
}

}  // namespace datum::api
