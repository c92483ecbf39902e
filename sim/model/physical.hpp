// Where a translated access goes.
#pragma once

#include <cstdint>

#include <datum/hw/registers.hpp>

namespace datum::sim {

enum class Target : std::uint8_t { dram, onchip, host };

/// A byte of one of the targets: device address or IOVA.
struct Physical {
  Target target = Target::dram;
  std::uint64_t address = 0;
};

/// What a failed access is called.
[[nodiscard]] constexpr hw::Status failure_status(Target target) noexcept {
  return target == Target::host ? hw::Status::host_bus : hw::Status::memory;
}

}  // namespace datum::sim
