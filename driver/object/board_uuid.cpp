#include "driver/object/board_uuid.hpp"

#include <cstring>

#include <fmt/format.h>

#include <datum/board/pci_domains.hpp>

namespace datum {

std::array<std::uint8_t, 16> uuid_of(const board::FunctionInfo& info) {
  const board::PciAddress& place = info.pci;
  const bool counted = place.domain == board::simulated_domain || place.domain == board::served_domain;
  const std::string identity =
      fmt::format("{}:{}:{}:{}:{}.{}:{}", info.vendor_id, info.device_id, place.domain, place.bus,
                  place.device, place.function, counted ? info.address : std::string{});
  // Two independent FNV-1a sums.
  std::array<std::uint8_t, 16> uuid{};
  for (std::size_t half = 0; half < 2; ++half) {
    std::uint64_t sum = 0xcbf29ce484222325ULL + half;
    for (const char letter : identity) {
      sum = (sum ^ static_cast<std::uint8_t>(letter)) * 0x100000001b3ULL;
    }
    std::memcpy(uuid.data() + 8 * half, &sum, sizeof(sum));
  }
  return uuid;
}

}  // namespace datum
