// The cells of the board's DRAM: bytes in order of device address, of which only touched pages cost anything.
#pragma once

#include <cstddef>
#include <cstdint>
#include <map>
#include <span>

#include <datum/base/mapping.hpp>
#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>

namespace datum::sim {

/// A sparse memfd, mapped as a whole. An exported range is moved to a sealed memfd of its own, which is
/// mapped in its place: so board and importers share bytes, and the board goes on to address its memory as
/// one array. Under the board's turn.
class DramArray {
 public:
  static Result<DramArray> create(std::uint64_t bytes);

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return mapping_.size_bytes(); }

  [[nodiscard]] std::byte* data() const noexcept { return mapping_.data(); }

  [[nodiscard]] std::span<std::byte> range(std::uint64_t first, std::uint64_t bytes) const noexcept {
    return {mapping_.data() + first, static_cast<std::size_t>(bytes)};
  }

  /// A descriptor of a sealed memfd that holds [`first`, `first` + `bytes`) from its offset 0 on; later calls
  /// for the same range give the same memory. A range that overlaps an earlier export takes its pages back
  /// from that one, whose holders keep the bytes as they were. invalid_argument: not whole 4 KiB pages, or
  /// beyond the memory; out_of_host_memory: no descriptor or mapping to be had.
  Result<UniqueFd> export_range(std::uint64_t first, std::uint64_t bytes);

  /// The array's own file: device address by device address, but for what was exported. Sealed against a
  /// change of its size.
  [[nodiscard]] int descriptor() const noexcept { return file_.get(); }

  /// Bytes of host memory that the array's own file holds.
  [[nodiscard]] std::uint64_t resident_bytes() const noexcept;

  /// Brings the pages of an export back to the array's own file.
  Status take_back(std::uint64_t first, std::uint64_t bytes);

 private:
  struct Export {
    std::uint64_t bytes = 0;
    UniqueFd file;
  };

  DramArray(UniqueFd file, Mapping mapping) noexcept : file_(std::move(file)), mapping_(std::move(mapping)) {}

  Status copy_touched_pages(int file, std::uint64_t first, std::uint64_t bytes, int to_file);
  Status show(int file, std::uint64_t file_offset, std::uint64_t first, std::uint64_t bytes);

  UniqueFd file_;
  Mapping mapping_;
  std::map<std::uint64_t, Export> exports_;  // by first byte
};

}  // namespace datum::sim
