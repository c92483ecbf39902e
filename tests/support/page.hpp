// The page that tests allocate by.
#pragma once

#include <cstddef>

namespace datum::test {

/// Of the board's MMU and of the processors that the tests run on.
inline constexpr std::size_t page_bytes = 4096;

}  // namespace datum::test
