// Sizes that tests of memory count in.
#pragma once

#include <cstdint>

#include <datum/base/address.hpp>

namespace datum {

inline constexpr std::uint64_t page = small_page_bytes;
inline constexpr std::uint64_t mib = 1ULL << 20U;

}  // namespace datum
