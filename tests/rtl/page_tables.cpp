#include "tests/rtl/page_tables.hpp"

#include <stdexcept>

namespace datum::rtl_test {

hw::Pte PageTables::leaf(std::uint64_t address, bool host, bool writable, unsigned ordinal) {
  return hw::Pte{}
      .set_valid(true)
      .set_leaf(true)
      .set_host(host)
      .set_writable(writable)
      .set_ordinal(static_cast<std::uint8_t>(ordinal))
      .set_address_bytes(address);
}

std::uint64_t PageTables::entry_address(std::uint64_t va, unsigned level) {
  auto table = root_;
  for (unsigned at = 3;; --at) {
    const auto entry = table + ((va >> (12U + 9U * at)) & 0x1ffU) * sizeof(hw::Pte);
    if (at == level) {
      return entry;
    }
    auto pte = memory_.get<hw::Pte>(entry);
    if (!pte.valid()) {
      if (next_ + 4096 > end_) {
        throw std::runtime_error("no room for page tables");
      }
      pte.set_valid(true).set_address_bytes(next_);
      next_ += 4096;
      memory_.put(entry, pte);
    }
    table = pte.address_bytes();
  }
}

void PageTables::map(std::uint64_t va, hw::Pte leaf, unsigned level) {
  memory_.put(entry_address(va, level), leaf);
}

void PageTables::map_range(std::uint64_t va, std::uint64_t address, std::uint64_t bytes, bool host,
                           bool writable, unsigned ordinal) {
  for (std::uint64_t at = 0; at < bytes; at += 4096) {
    map(va + at, leaf(address + at, host, writable, ordinal));
  }
}

}  // namespace datum::rtl_test
