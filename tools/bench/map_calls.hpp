// How much of a call of the driver is the kernel's: the map calls of VFIO, timed from inside the process.
#pragma once

namespace datum::bench {

struct MapCalls {
  unsigned count = 0;
  double ns = 0;  ///< on the wall
};

/// The kernel's map calls (of a container and of iommufd) of this thread since it last asked. This program
/// puts itself between the C library's ioctl and whoever calls it, the driver included.
[[nodiscard]] MapCalls take_map_calls() noexcept;

}  // namespace datum::bench
