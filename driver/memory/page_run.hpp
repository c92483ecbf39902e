// A run of pages of device memory.
#pragma once

#include <cstdint>

#include <datum/base/address.hpp>

namespace datum {

/// `first` and `bytes` are multiples of 4 KiB.
struct PageRun {
  DeviceAddress first{};
  std::uint64_t bytes = 0;

  friend constexpr bool operator==(const PageRun&, const PageRun&) = default;
};

}  // namespace datum
