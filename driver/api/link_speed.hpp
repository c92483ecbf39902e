// What the API says about the speed of a PCIe link.
#pragma once

#include <array>
#include <cstdint>

#include <datum/board/pcie_function.hpp>

namespace datum::api {

/// Bytes that a lane of each generation carries in a second, what its code takes subtracted.
inline constexpr std::array<std::int64_t, 6> lane_bytes_per_s{
    250'000'000,                     // 2.5 GT/s, 8 of 10 bits
    500'000'000,                     // 5 GT/s, the same
    8'000'000'000 * 16 / 130,        // 128 of 130
    16'000'000'000 * 16 / 130,       // the same
    32'000'000'000 * 16 / 130,       // the same
    64'000'000'000 / 8 * 236 / 256,  // 236 bytes of a flit of 256
};

/// Generation, lanes and bytes a second; -1 for what the seam does not know, as for every simulated board.
/// `Speed` is a structure of the core or of the management interface.
template <class Speed>
[[nodiscard]] constexpr Speed speed_of(const board::PciLink& link) noexcept {
  Speed speed{-1, -1, -1};
  const auto& [generation, lanes] = link;
  auto& [told_generation, told_lanes, told_bytes] = speed;
  if (generation != 0) {
    told_generation = static_cast<std::int32_t>(generation);
  }
  if (lanes != 0) {
    told_lanes = static_cast<std::int32_t>(lanes);
  }
  if (lanes != 0 && generation != 0 && generation <= lane_bytes_per_s.size()) {
    told_bytes = lane_bytes_per_s[generation - 1] * lanes;
  }
  return speed;
}

}  // namespace datum::api
