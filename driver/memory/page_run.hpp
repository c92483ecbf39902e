// A run of pages of device memory.
#pragma once

#include <datum/board/pcie_function.hpp>

namespace datum {

/// `first` and `bytes` are multiples of 4 KiB.
using PageRun = board::DeviceRange;

}  // namespace datum
