// The cells of the board's DRAM: bytes in order of device address, of which only touched pages cost anything.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <map>
#include <memory>
#include <span>
#include <string_view>
#include <vector>

#include <datum/base/mapping.hpp>
#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>
#include <datum/board/pcie_function.hpp>

#include "sim/memory/error_masks.hpp"

namespace datum::sim {

/// A sparse memfd, mapped as a whole, and a table that says which pages are elsewhere: those of an export are
/// in a sealed memfd of its own, mapped once, so that board and importers share bytes and an export of any
/// number of scattered pages costs one mapping. Under the board's turn.
class DramArray {
 public:
  static Result<DramArray> create(std::uint64_t bytes);

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return own_.size_bytes(); }

  /// The cells from `first` on, as many as lie in one piece: at most `most_bytes`, and at least up to the end
  /// of the page or of the memory. `first` lies in the memory.
  [[nodiscard]] std::span<std::byte> run(std::uint64_t first, std::uint64_t most_bytes) const noexcept {
    most_bytes = std::min(most_bytes, size_bytes() - first);
    return exports_.empty() ? std::span{own_.data() + first, static_cast<std::size_t>(most_bytes)}
                            : run_among_exports(first, most_bytes);
  }

  /// Which bits of the cells are wrong, wherever the cells are.
  [[nodiscard]] ErrorMasks& errors() noexcept { return errors_; }

  /// board::PcieFunction::export_memory; the ranges are of this memory, whatever their ordinal says.
  Result<UniqueFd> export_ranges(std::span<const board::DeviceRange> ranges, std::string_view label);
  /// board::PcieFunction::end_export.
  Status end_export(std::span<const board::DeviceRange> ranges);

  /// The array's own file: device address by device address, but for what was exported. Sealed against a
  /// change of its size.
  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }

  /// Bytes of host memory that the array's own file holds.
  [[nodiscard]] std::uint64_t resident_bytes() const noexcept;

 private:
  static constexpr std::uint64_t block_pages = 512;
  /// Where the pages of 2 MiB are; null: in the array's own file.
  using Block = std::array<std::byte*, block_pages>;

  struct Export {
    std::vector<board::DeviceRange> ranges;
    Mapping mapping;
  };

  DramArray(UniqueFd file, Mapping own) noexcept : file_(std::move(file)), own_(std::move(own)) {}

  [[nodiscard]] std::byte* moved_page(std::uint64_t page) const noexcept;
  [[nodiscard]] std::span<std::byte> run_among_exports(std::uint64_t first,
                                                       std::uint64_t most_bytes) const noexcept;
  Status check(std::span<const board::DeviceRange> ranges) const;
  Status copy_touched_pages(const board::DeviceRange& range, int to_file, std::uint64_t to_offset) const;
  void make_room_to_show(const board::DeviceRange& range);
  void show(const board::DeviceRange& range, std::byte* at) noexcept;

  UniqueFd file_;
  Mapping own_;
  std::vector<std::unique_ptr<Block>> moved_;  // by block; made by the first export
  std::map<std::uint64_t, Export> exports_;    // by first byte of the first range
  ErrorMasks errors_;
};

}  // namespace datum::sim
