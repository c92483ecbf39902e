// Byte memory of several targets that costs only the pages that were written.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <unordered_map>

namespace datum::rtl_bench {

/// What stands above the address on the AXI ports between the blocks.
enum class Target : std::uint8_t { dram = 0, onchip = 1, host = 2 };

/// A place on those ports. `address` has 52 bits.
struct Place {
  Target target = Target::host;
  std::uint64_t address = 0;
};

/// Unwritten bytes read as zero. Not for several threads.
class SparseMemory {
 public:
  void read(Place place, std::span<std::uint8_t> bytes) const;
  void write(Place place, std::span<const std::uint8_t> bytes);

  /// Writes the bytes of one 64-byte word that `strobe` selects. `place` is aligned.
  void write_word(Place place, const std::uint8_t* bytes, std::uint64_t strobe);

  template <typename T>
  [[nodiscard]] T get(Place place) const {
    T value{};
    read(place, {reinterpret_cast<std::uint8_t*>(&value), sizeof value});
    return value;
  }

  template <typename T>
  void put(Place place, const T& value) {
    write(place, {reinterpret_cast<const std::uint8_t*>(&value), sizeof value});
  }

 private:
  static constexpr std::size_t page_bytes = 4096;
  using Page = std::array<std::uint8_t, page_bytes>;

  [[nodiscard]] static std::uint64_t key(Place place);
  Page& page(Place place);

  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace datum::rtl_bench
