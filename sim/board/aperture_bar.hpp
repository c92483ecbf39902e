// BAR2 as the driver sees it.
#pragma once

#include <datum/board/pcie_function.hpp>

#include "sim/board/board.hpp"

namespace datum::sim {

class ApertureBar final : public board::Bar {
 public:
  explicit ApertureBar(Board& board) noexcept;

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }

  [[nodiscard]] std::uint32_t read32(std::uint64_t offset) noexcept override;
  [[nodiscard]] std::uint64_t read64(std::uint64_t offset) noexcept override;
  void write32(std::uint64_t offset, std::uint32_t value) noexcept override;
  void write64(std::uint64_t offset, std::uint64_t value) noexcept override;
  void read_block(std::uint64_t offset, std::span<std::byte> to) noexcept override;
  void write_block(std::uint64_t offset, std::span<const std::byte> from) noexcept override;

 private:
  [[nodiscard]] bool inside(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    return offset < size_bytes_ && bytes <= size_bytes_ - offset;
  }

  Board& board_;
  std::uint64_t size_bytes_;
};

}  // namespace datum::sim
