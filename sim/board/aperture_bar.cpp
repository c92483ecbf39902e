#include "sim/board/aperture_bar.hpp"

#include <algorithm>
#include <bit>

namespace datum::sim {

namespace {

/// A block access gives other callers and the board a chance after this much.
constexpr std::size_t piece_bytes = 64UL * 1024;

}  // namespace

ApertureBar::ApertureBar(Board& board) noexcept
    : board_(board), size_bytes_(std::bit_ceil(board.options.aperture_bytes + board.options.window_bytes)) {}

void ApertureBar::read_block(std::uint64_t offset, std::span<std::byte> to) noexcept {
  if (!inside(offset, to.size())) {
    std::ranges::fill(to, std::byte{0xff});
    return;
  }
  while (!to.empty()) {
    const auto piece = to.first(std::min(to.size(), piece_bytes));
    const Turn::Scope turn(board_.turn);
    if (!board_.is_lost()) {
      board_.engine->read_aperture(offset, piece);
      board_.notice_loss();
    }
    if (board_.is_lost()) {
      std::ranges::fill(piece, std::byte{0xff});
    }
    offset += piece.size();
    to = to.subspan(piece.size());
  }
}

void ApertureBar::write_block(std::uint64_t offset, std::span<const std::byte> from) noexcept {
  if (!inside(offset, from.size())) {
    return;
  }
  while (!from.empty()) {
    const auto piece = from.first(std::min(from.size(), piece_bytes));
    const Turn::Scope turn(board_.turn);
    if (board_.is_lost()) {
      return;
    }
    board_.engine->write_aperture(offset, piece);
    board_.notice_loss();
    offset += piece.size();
    from = from.subspan(piece.size());
  }
}

std::uint32_t ApertureBar::read32(std::uint64_t offset) noexcept {
  std::uint32_t value = 0;
  read_block(offset, std::as_writable_bytes(std::span{&value, 1}));
  return value;
}

std::uint64_t ApertureBar::read64(std::uint64_t offset) noexcept {
  std::uint64_t value = 0;
  read_block(offset, std::as_writable_bytes(std::span{&value, 1}));
  return value;
}

void ApertureBar::write32(std::uint64_t offset, std::uint32_t value) noexcept {
  write_block(offset, std::as_bytes(std::span{&value, 1}));
}

void ApertureBar::write64(std::uint64_t offset, std::uint64_t value) noexcept {
  write_block(offset, std::as_bytes(std::span{&value, 1}));
}

}  // namespace datum::sim
