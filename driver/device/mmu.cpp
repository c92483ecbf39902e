#include "driver/device/mmu.hpp"

#include <fmt/format.h>

#include <datum/base/mutex.hpp>
#include <datum/hw/registers.hpp>

#include "driver/device/board.hpp"
#include "driver/device/register_wait.hpp"

namespace datum {

namespace {

constexpr std::uint8_t invalidate_range = 1;

}  // namespace

Mmu::Mmu(Board& board, board::Bar& registers, board::Bar& aperture, unsigned space_count,
         std::uint64_t aperture_fixed_bytes)
    : board_(board),
      registers_(registers),
      aperture_(aperture),
      aperture_fixed_bytes_(aperture_fixed_bytes),
      space_used_(space_count, false) {
  space_used_[0] = true;
}

Result<unsigned> Mmu::acquire_space() {
  const ScopedLock lock(spaces_mutex_);
  for (unsigned space = 1; space < space_used_.size(); ++space) {
    if (!space_used_[space]) {
      space_used_[space] = true;
      return space;
    }
  }
  return make_error(ErrorCode::out_of_device_memory,
                    fmt::format("all {} address spaces of the board are in use", space_used_.size()),
                    "destroy a context, or share one");
}

void Mmu::release_space(unsigned space) {
  const ScopedLock lock(spaces_mutex_);
  if (space != 0 && space < space_used_.size()) {
    space_used_[space] = false;
  }
}

Status Mmu::write_entries(DeviceAddress at, std::span<const std::uint64_t> entries) {
  const std::uint64_t bytes = entries.size_bytes();
  if (at.ordinal != 0 || at.offset_bytes > aperture_fixed_bytes_ ||
      bytes > aperture_fixed_bytes_ - at.offset_bytes) {
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("page table at ordinal {} offset {:#x} lies outside the fixed aperture of {} bytes",
                    at.ordinal, at.offset_bytes, aperture_fixed_bytes_));
  }
  if (entries.size() == 1) {
    aperture_.write64(at.offset_bytes, entries[0]);  // one entry changes in one write
  } else {
    aperture_.write_block(at.offset_bytes, std::as_bytes(entries));
  }
  return {};
}

Status Mmu::flush_writes() {
  // A read may not pass posted writes to the same BAR. All ones is a legal value of memory, so it alone
  // proves nothing.
  if (aperture_.read64(0) == ~0ULL) {
    return board_.health();
  }
  return {};
}

Status Mmu::set_root(unsigned space, DeviceAddress root) {
  if (root.ordinal != 0 || !is_aligned(root.offset_bytes, small_page_bytes)) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("a root table must be a page of ordinal 0, not ordinal {} offset {:#x}",
                                  root.ordinal, root.offset_bytes));
  }
  registers_.write64(hw::space_root(space),
                     hw::SpaceRootRegister{}.set_valid(true).set_address_bytes(root.offset_bytes).raw);
  return invalidate(space, DeviceVa{0}, 0);
}

Status Mmu::clear_root(unsigned space) {
  registers_.write64(hw::space_root(space), 0);
  return invalidate(space, DeviceVa{0}, 0);
}

Status Mmu::invalidate(unsigned space, DeviceVa first, std::uint64_t bytes) {
  const ScopedLock lock(invalidation_mutex_);
  if (board_.is_lost()) {
    return board_.health();
  }
  const std::uint64_t begin = align_down(raw(first), small_page_bytes);
  const std::uint64_t length = bytes == 0 ? 0 : align_up(raw(first) + bytes, small_page_bytes) - begin;
  registers_.write32(hw::inv_space, space);
  registers_.write64(hw::inv_address, begin);
  registers_.write64(hw::inv_bytes, length);
  registers_.write32(hw::inv_command, hw::InvCommandRegister{}.set_command(invalidate_range).raw);

  std::uint32_t status = 0;
  const bool finished = wait_for_register(board_.function(), limits::invalidation_ns, [&] {
    status = registers_.read32(hw::inv_status);
    return status == ~0U || !hw::InvStatusRegister{status}.busy();
  });
  if (finished && status != ~0U) {
    return {};
  }
  if (Status health = board_.health(); !health) {
    return health;
  }
  if (!finished) {
    board_.give_up(
        fmt::format("the board did not finish the invalidation of space {} at {:#x} (INV_STATUS {:#x})",
                    space, begin, status));
  }
  return board_.health();
}

}  // namespace datum
