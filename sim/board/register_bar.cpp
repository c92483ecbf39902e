#include "sim/board/register_bar.hpp"

#include <algorithm>
#include <cstring>

#include <datum/base/address.hpp>
#include <datum/hw/registers.hpp>

namespace datum::sim {

namespace {

constexpr std::uint64_t word_bytes = 4;

}  // namespace

std::uint64_t RegisterBar::size_bytes() const noexcept { return hw::bar0_bytes; }

bool RegisterBar::reachable(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  return !board_.is_lost() && offset < hw::bar0_bytes && bytes <= hw::bar0_bytes - offset &&
         is_aligned(offset, bytes);
}

std::uint32_t RegisterBar::read32(std::uint64_t offset) noexcept {
  const Turn::Scope turn(board_.turn);
  if (!reachable(offset, sizeof(std::uint32_t))) {
    return ~0U;
  }
  const auto value = board_.engine->read_register32(static_cast<std::uint32_t>(offset));
  board_.notice_loss();
  return board_.is_lost() ? ~0U : value;
}

std::uint64_t RegisterBar::read64(std::uint64_t offset) noexcept {
  const Turn::Scope turn(board_.turn);
  if (!reachable(offset, sizeof(std::uint64_t))) {
    return ~0ULL;
  }
  const auto value = board_.engine->read_register64(static_cast<std::uint32_t>(offset));
  board_.notice_loss();
  return board_.is_lost() ? ~0ULL : value;
}

void RegisterBar::write32(std::uint64_t offset, std::uint32_t value) noexcept {
  {
    const Turn::Scope turn(board_.turn);
    if (!reachable(offset, sizeof(std::uint32_t))) {
      return;
    }
    board_.engine->write_register32(static_cast<std::uint32_t>(offset), value);
    board_.notice_loss();
  }
  wake_();
}

void RegisterBar::write64(std::uint64_t offset, std::uint64_t value) noexcept {
  {
    const Turn::Scope turn(board_.turn);
    if (!reachable(offset, sizeof(std::uint64_t))) {
      return;
    }
    board_.engine->write_register64(static_cast<std::uint32_t>(offset), value);
    board_.notice_loss();
  }
  wake_();
}

void RegisterBar::read_block(std::uint64_t offset, std::span<std::byte> to) noexcept {
  if (!is_aligned(offset | to.size(), word_bytes)) {
    std::ranges::fill(to, std::byte{0xff});
    return;
  }
  for (std::size_t at = 0; at < to.size(); at += word_bytes) {
    const auto value = read32(offset + at);
    std::memcpy(to.data() + at, &value, sizeof value);
  }
}

void RegisterBar::write_block(std::uint64_t offset, std::span<const std::byte> from) noexcept {
  if (!is_aligned(offset | from.size(), word_bytes)) {
    return;
  }
  for (std::size_t at = 0; at < from.size(); at += word_bytes) {
    std::uint32_t value = 0;
    std::memcpy(&value, from.data() + at, sizeof value);
    write32(offset + at, value);
  }
}

}  // namespace datum::sim
