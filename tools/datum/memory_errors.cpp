#include "tools/datum/memory_errors.hpp"

#include <algorithm>
#include <chrono>
#include <string>
#include <thread>

#include <fmt/format.h>

namespace datum::tool {

namespace {

constexpr std::uint64_t word_bytes = 8;
constexpr std::uint64_t column_bytes = 64;
/// A scrub that does not get on for so long never will; the slowest board looks at thousands of columns a
/// second.
constexpr std::chrono::seconds no_progress{10};
constexpr std::chrono::milliseconds nap{1};

Status check(OpenBoard& board) {
  if (std::string complaint = board_complaint(board); !complaint.empty()) {
    return make_error(ErrorCode::device_lost, std::move(complaint), "'datum doctor' looks for the cause");
  }
  if (!hw::McStatusRegister{board.registers->read32(hw::mc_status)}.ecc()) {
    return make_error(ErrorCode::unsupported_feature, "the memory of this board is not protected");
  }
  return {};
}

/// Both logs have the same fields.
std::optional<MemoryError> read_log(OpenBoard& board, std::uint32_t info_offset,
                                    std::uint32_t address_offset) {
  const hw::EccCorrectedInfoRegister info{board.registers->read32(info_offset)};
  if (!info.valid()) {
    return std::nullopt;
  }
  return MemoryError{board.registers->read64(address_offset), info.bank(), info.syndrome(), info.scrub()};
}

/// Until `left` is zero; device_lost when it does not shrink any more.
template <class Left>
Status wait_until_done(OpenBoard& board, const char* what, const Left& left) {
  std::uint64_t before = ~0ULL;
  auto deadline = std::chrono::steady_clock::now() + no_progress;
  while (true) {
    const std::uint64_t now = left();
    if (now == 0) {
      return {};
    }
    if (now < before) {
      before = now;
      deadline = std::chrono::steady_clock::now() + no_progress;
    } else if (std::chrono::steady_clock::now() >= deadline) {
      return make_error(ErrorCode::device_lost, fmt::format("the board does not get on with {}", what));
    }
    board.function->relax();
    std::this_thread::sleep_for(nap);
  }
}

}  // namespace

Result<MemoryErrors> read_memory_errors(OpenBoard& board) {
  if (Status fit = check(board); !fit) {
    return std::move(fit).error();
  }
  board::Bar& registers = *board.registers;
  MemoryErrors errors;
  errors.corrected = registers.read64(hw::ecc_corrected_count);
  errors.uncorrected = registers.read64(hw::ecc_uncorrected_count);
  errors.first_corrected = read_log(board, hw::ecc_corrected_info, hw::ecc_corrected_address);
  errors.first_uncorrected = read_log(board, hw::ecc_uncorrected_info, hw::ecc_uncorrected_address);
  errors.scrub_position = registers.read64(hw::scrub_position);
  errors.scrub_remaining = registers.read64(hw::scrub_remaining);
  errors.scrub_interval_cycles = registers.read32(hw::scrub_interval);
  return errors;
}

Status clear_memory_errors(OpenBoard& board) {
  if (Status fit = check(board); !fit) {
    return fit;
  }
  board.registers->write32(hw::ecc_clear, hw::EccClearRegister{}.set_counts(true).set_logs(true).raw);
  return {};
}

Status inject_error(OpenBoard& board, std::uint64_t address, std::uint64_t data_bits,
                    std::uint8_t check_bits) {
  if (Status fit = check(board); !fit) {
    return fit;
  }
  board::Bar& registers = *board.registers;
  const std::uint64_t end = registers.read64(hw::memory_bytes);
  if (address % word_bytes != 0 || address >= end) {
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("{:#x} is no word of 8 bytes of the memory, which ends at {:#x}", address, end));
  }
  registers.write64(hw::inject_address, address);
  registers.write64(hw::inject_data, data_bits);
  registers.write32(hw::inject_check, check_bits);
  registers.write32(hw::inject_command, hw::InjectCommandRegister{}.set_busy(true).raw);
  return wait_until_done(board, "the injection", [&] { return registers.read32(hw::inject_command); });
}

Result<std::uint64_t> scrub(OpenBoard& board, std::uint64_t address, std::uint64_t bytes) {
  if (Status fit = check(board); !fit) {
    return std::move(fit).error();
  }
  board::Bar& registers = *board.registers;
  const std::uint64_t end = registers.read64(hw::memory_bytes);
  if (address >= end) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{:#x} is beyond the memory, which ends at {:#x}", address, end));
  }
  const std::uint64_t first = address / column_bytes * column_bytes;
  const std::uint64_t last = bytes == 0 || bytes > end - address ? end : address + bytes;
  const std::uint64_t length = (last - first + column_bytes - 1) / column_bytes * column_bytes;
  registers.write64(hw::scrub_position, first);
  registers.write64(hw::scrub_remaining, length);
  if (Status done =
          wait_until_done(board, "the scrub", [&] { return registers.read64(hw::scrub_remaining); });
      !done) {
    return std::move(done).error();
  }
  return length;
}

Status set_scrub_interval(OpenBoard& board, std::uint32_t cycles) {
  if (Status fit = check(board); !fit) {
    return fit;
  }
  board.registers->write32(hw::scrub_interval, cycles);
  return {};
}

}  // namespace datum::tool
