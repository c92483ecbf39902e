#include "rtl_model/bench/sparse_memory.hpp"

#include <algorithm>
#include <cstring>

namespace datum::rtl_bench {

std::uint64_t SparseMemory::key(Place place) {
  return (static_cast<std::uint64_t>(place.target) << 52U) | (place.address / page_bytes);
}

SparseMemory::Page& SparseMemory::page(Place place) {
  std::unique_ptr<Page>& slot = pages_[key(place)];
  if (!slot) {
    slot = std::make_unique<Page>();
  }
  return *slot;
}

void SparseMemory::read(Place place, std::span<std::uint8_t> bytes) const {
  while (!bytes.empty()) {
    const std::size_t offset = place.address % page_bytes;
    const std::size_t count = std::min(bytes.size(), page_bytes - offset);
    const auto found = pages_.find(key(place));
    if (found == pages_.end()) {
      std::fill_n(bytes.begin(), count, std::uint8_t{0});
    } else {
      std::memcpy(bytes.data(), found->second->data() + offset, count);
    }
    bytes = bytes.subspan(count);
    place.address += count;
  }
}

void SparseMemory::write(Place place, std::span<const std::uint8_t> bytes) {
  while (!bytes.empty()) {
    const std::size_t offset = place.address % page_bytes;
    const std::size_t count = std::min(bytes.size(), page_bytes - offset);
    std::memcpy(page(place).data() + offset, bytes.data(), count);
    bytes = bytes.subspan(count);
    place.address += count;
  }
}

void SparseMemory::write_word(Place place, const std::uint8_t* bytes, std::uint64_t strobe) {
  std::uint8_t* out = page(place).data() + place.address % page_bytes;
  if (strobe == ~std::uint64_t{0}) {
    std::memcpy(out, bytes, 64);
    return;
  }
  for (unsigned i = 0; i < 64; ++i) {
    if (((strobe >> i) & 1U) != 0) {
      out[i] = bytes[i];
    }
  }
}

}  // namespace datum::rtl_bench
