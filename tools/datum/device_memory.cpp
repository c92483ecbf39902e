#include "tools/datum/device_memory.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <datum/hw/registers.hpp>

namespace datum::tool {

Result<DeviceMemory> DeviceMemory::create(OpenBoard& board) {
  const std::uint64_t fixed = board.registers->read64(hw::aperture_fixed_bytes);
  const std::uint64_t window = board.registers->read64(hw::aperture_window_bytes);
  const std::uint64_t aperture = board.aperture->size_bytes();
  if (fixed > aperture || window > aperture - fixed || board.registers->read64(hw::memory_bytes) == ~0ULL) {
    const std::string complaint = board_complaint(board);
    return make_error(ErrorCode::device_lost,
                      complaint.empty()
                          ? fmt::format("the parts of the aperture are {} and {} bytes, BAR2 has {}", fixed,
                                        window, aperture)
                          : complaint,
                      "'datum regs dump' shows what the registers read");
  }
  return DeviceMemory(board, fixed, align_down(window, small_page_bytes));
}

DeviceMemory::DeviceMemory(OpenBoard& board, std::uint64_t fixed_bytes, std::uint64_t window_bytes)
    : board_(&board), fixed_bytes_(fixed_bytes), window_bytes_(window_bytes) {}

DeviceMemory::DeviceMemory(DeviceMemory&& other) noexcept
    : board_(other.board_),
      fixed_bytes_(other.fixed_bytes_),
      window_bytes_(other.window_bytes_),
      window_before_(std::exchange(other.window_before_, std::nullopt)) {}

DeviceMemory::~DeviceMemory() {
  if (window_before_) {
    board_->registers->write64(hw::window_base, *window_before_);
  }
}

std::uint64_t DeviceMemory::size_bytes(unsigned ordinal) const noexcept {
  constexpr std::uint64_t sizes[] = {hw::memory_bytes, hw::onchip_bytes};
  return ordinal < std::size(sizes) ? board_->registers->read64(sizes[ordinal]) : 0;
}

Status DeviceMemory::check(DeviceAddress at, std::uint64_t bytes) const {
  const std::uint64_t size = size_bytes(at.ordinal);
  if (at.offset_bytes > size || bytes > size - at.offset_bytes) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} bytes at {:#x} do not lie in memory {}, which has {} bytes", bytes,
                                  at.offset_bytes, at.ordinal, size));
  }
  if (window_bytes_ == 0 && (at.ordinal != 0 || at.offset_bytes + bytes > fixed_bytes_)) {
    return make_error(
        ErrorCode::unsupported_feature,
        fmt::format("the board has no sliding window, and its fixed aperture ends at {:#x}", fixed_bytes_));
  }
  return {};
}

DeviceMemory::Piece DeviceMemory::reach(DeviceAddress at) {
  if (at.ordinal == 0 && at.offset_bytes < fixed_bytes_) {
    return {at.offset_bytes, fixed_bytes_ - at.offset_bytes};
  }
  if (!window_before_) {
    window_before_ = board_->registers->read64(hw::window_base);
  }
  const std::uint64_t base = align_down(at.offset_bytes, small_page_bytes);
  board_->registers->write64(hw::window_base, hw::WindowBaseRegister{}
                                                  .set_address_bytes(base)
                                                  .set_ordinal(static_cast<std::uint8_t>(at.ordinal))
                                                  .raw);
  const std::uint64_t skipped = at.offset_bytes - base;
  return {fixed_bytes_ + skipped, window_bytes_ - skipped};
}

Status DeviceMemory::read(DeviceAddress from, std::span<std::byte> to) {
  if (Status inside = check(from, to.size()); !inside) {
    return inside;
  }
  while (!to.empty()) {
    const Piece piece = reach(from);
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(piece.bytes, to.size()));
    board_->aperture->read_block(piece.bar_offset, to.first(bytes));
    to = to.subspan(bytes);
    from = from + bytes;
  }
  return {};
}

Status DeviceMemory::write(DeviceAddress to, std::span<const std::byte> from) {
  if (Status inside = check(to, from.size()); !inside) {
    return inside;
  }
  while (!from.empty()) {
    const Piece piece = reach(to);
    const auto bytes = static_cast<std::size_t>(std::min<std::uint64_t>(piece.bytes, from.size()));
    board_->aperture->write_block(piece.bar_offset, from.first(bytes));
    from = from.subspan(bytes);
    to = to + bytes;
  }
  return {};
}

}  // namespace datum::tool
