#include "sim/board/board_number.hpp"

#include <array>
#include <atomic>
#include <bit>
#include <cstdint>

#include <datum/board/pci_domains.hpp>

namespace datum::sim {

namespace {

constexpr unsigned devices_per_bus = 32;

/// One bit for each number that a live board has. A board beyond the last bit shares the last number.
constinit std::array<std::atomic<std::uint64_t>, 16> taken{};
constexpr unsigned last_number = taken.size() * 64 - 1;

}  // namespace

BoardNumber::BoardNumber() noexcept : number_(last_number) {
  for (unsigned word = 0; word < taken.size(); ++word) {
    auto bits = taken[word].load();
    while (bits != ~0ULL) {
      const auto bit = static_cast<unsigned>(std::countr_one(bits));
      if (taken[word].compare_exchange_weak(bits, bits | (1ULL << bit))) {
        number_ = word * 64 + bit;
        return;
      }
    }
  }
}

BoardNumber::~BoardNumber() { taken[number_ / 64].fetch_and(~(1ULL << (number_ % 64))); }

board::PciAddress BoardNumber::pci_address() const noexcept {
  return {board::simulated_domain, static_cast<std::uint8_t>(number_ / devices_per_bus),
          static_cast<std::uint8_t>(number_ % devices_per_bus), 0};
}

}  // namespace datum::sim
