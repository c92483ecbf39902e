// Allocators of the host as peers of allocate+free: what a page costs without any device.
#pragma once

#include <vector>

#include "tools/bench/figure.hpp"

namespace datum::bench {

/// Pairs of 4 KiB, each touched once: mmap, the C library's malloc, and mimalloc where it can be loaded.
std::vector<Figure> measure_allocators();

}  // namespace datum::bench
