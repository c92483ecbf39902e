// Memory for benches: bytes by address, of which only touched pages exist.
#pragma once

#include <algorithm>
#include <array>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <unordered_map>
#include <vector>

namespace datum::rtl_test {

/// Bytes by address, zero until written. Pages come into being when they are touched.
class SparseMemory {
 public:
  static constexpr std::uint64_t page_bytes = 4096;
  using Page = std::array<std::byte, page_bytes>;

  /// The page that holds `address`.
  Page& page(std::uint64_t address) {
    auto& page = pages_[address / page_bytes];
    if (!page) {
      page = std::make_unique<Page>();
      page->fill(std::byte{0});
    }
    return *page;
  }

  void write(std::uint64_t address, std::span<const std::byte> bytes) {
    for (std::size_t done = 0; done < bytes.size();) {
      const auto offset = (address + done) % page_bytes;
      const auto part = std::min<std::size_t>(bytes.size() - done, page_bytes - offset);
      std::memcpy(page(address + done).data() + offset, bytes.data() + done, part);
      done += part;
    }
  }

  [[nodiscard]] std::vector<std::byte> read(std::uint64_t address, std::size_t count) {
    std::vector<std::byte> bytes(count);
    for (std::size_t done = 0; done < count;) {
      const auto offset = (address + done) % page_bytes;
      const auto part = std::min<std::size_t>(count - done, page_bytes - offset);
      std::memcpy(bytes.data() + done, page(address + done).data() + offset, part);
      done += part;
    }
    return bytes;
  }

  template <class T>
  void put(std::uint64_t address, const T& value) {
    write(address, std::as_bytes(std::span{&value, 1}));
  }

  template <class T>
  [[nodiscard]] T get(std::uint64_t address) {
    T value;
    std::memcpy(static_cast<void*>(&value), read(address, sizeof value).data(), sizeof value);
    return value;
  }

 private:
  std::unordered_map<std::uint64_t, std::unique_ptr<Page>> pages_;
};

}  // namespace datum::rtl_test
