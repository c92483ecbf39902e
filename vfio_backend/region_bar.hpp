// A BAR of a card: mapped where the kernel allows it, through reads and writes of the device's file
// elsewhere.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <datum/board/pcie_function.hpp>

#include "vfio_backend/region_layout.hpp"
#include "vfio_backend/syscalls.hpp"

namespace datum::vfio {

/// Single accesses of mapped areas are single transactions of their size. Outside them the kernel makes the
/// transactions: of 4 bytes at most on older kernels, low half first. Blocks are moved in aligned 8-byte
/// accesses, and bytes at their ends.
class RegionBar final : public board::Bar {
 public:
  /// Maps what can be mapped; an area that cannot be (no address space left) is accessed through the file.
  /// `device_fd` outlives the object.
  RegionBar(Syscalls& syscalls, int device_fd, const RegionLayout& layout);

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }

  [[nodiscard]] std::uint32_t read32(std::uint64_t offset) noexcept override {
    return read<std::uint32_t>(offset);
  }

  [[nodiscard]] std::uint64_t read64(std::uint64_t offset) noexcept override {
    return read<std::uint64_t>(offset);
  }

  void write32(std::uint64_t offset, std::uint32_t value) noexcept override { write(offset, value); }

  void write64(std::uint64_t offset, std::uint64_t value) noexcept override { write(offset, value); }

  void read_block(std::uint64_t offset, std::span<std::byte> to) noexcept override;
  void write_block(std::uint64_t offset, std::span<const std::byte> from) noexcept override;

  [[nodiscard]] std::uint64_t mapped_bytes() const noexcept;

  /// Lets go of the device's memory: mapped areas read all ones, writes have no effect on the card. Other
  /// threads may be at it.
  Status abandon() noexcept;

 private:
  struct MappedArea {
    std::uint64_t offset;
    std::uint64_t bytes;
    OwnedMapping mapping;
  };

  /// A stretch that is accessed in one way. `at` null: through the file.
  struct Stretch {
    volatile std::byte* at;
    std::uint64_t bytes;
  };

  template <class Word>
  Word read(std::uint64_t offset) noexcept {
    if (offset < front_bytes_ && front_bytes_ - offset >= sizeof(Word)) {
      return *reinterpret_cast<const volatile Word*>(front_ + offset);
    }
    return static_cast<Word>(read_elsewhere(offset, sizeof(Word)));
  }

  template <class Word>
  void write(std::uint64_t offset, Word value) noexcept {
    if (offset < front_bytes_ && front_bytes_ - offset >= sizeof(Word)) {
      *reinterpret_cast<volatile Word*>(front_ + offset) = value;
      return;
    }
    write_elsewhere(offset, value, sizeof(Word));
  }

  // Kept out of line, so that the common access stays a compare and a load.
  [[gnu::noinline]] std::uint64_t read_elsewhere(std::uint64_t offset, std::size_t bytes) noexcept;
  [[gnu::noinline]] void write_elsewhere(std::uint64_t offset, std::uint64_t value,
                                         std::size_t bytes) noexcept;
  [[nodiscard]] Stretch stretch_at(std::uint64_t offset, std::uint64_t most_bytes) const noexcept;
  void read_file(std::uint64_t offset, std::span<std::byte> to) noexcept;
  void write_file(std::uint64_t offset, std::span<const std::byte> from) noexcept;

  [[nodiscard]] bool inside(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    return offset < size_bytes_ && bytes <= size_bytes_ - offset;
  }

  Syscalls& syscalls_;
  int device_fd_;
  std::uint64_t size_bytes_;
  std::uint64_t file_offset_;
  std::vector<MappedArea> areas_;  // sorted
  // The area that begins at offset 0, where registers and most of the memory are: found without a search.
  std::byte* front_ = nullptr;
  std::uint64_t front_bytes_ = 0;
};

}  // namespace datum::vfio
