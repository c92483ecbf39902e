// BAR0 as the driver sees it.
#pragma once

#include <functional>

#include <datum/board/pcie_function.hpp>

#include "sim/board/board.hpp"

namespace datum::sim {

class RegisterBar final : public board::Bar {
 public:
  /// `wake` is called after each write, outside the board's turn.
  RegisterBar(Board& board, std::function<void()> wake) : board_(board), wake_(std::move(wake)) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override;
  [[nodiscard]] std::uint32_t read32(std::uint64_t offset) noexcept override;
  [[nodiscard]] std::uint64_t read64(std::uint64_t offset) noexcept override;
  void write32(std::uint64_t offset, std::uint32_t value) noexcept override;
  void write64(std::uint64_t offset, std::uint64_t value) noexcept override;
  void read_block(std::uint64_t offset, std::span<std::byte> to) noexcept override;
  void write_block(std::uint64_t offset, std::span<const std::byte> from) noexcept override;

 private:
  [[nodiscard]] bool reachable(std::uint64_t offset, std::uint64_t bytes) const noexcept;

  Board& board_;
  std::function<void()> wake_;
};

}  // namespace datum::sim
