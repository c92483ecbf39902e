// Kernel structures that end in an array of unknown size have no initialiser that every compiler takes.
#pragma once

#include <array>
#include <bit>
#include <cstddef>
#include <type_traits>

namespace datum::vfio::uapi {

/// A structure of nothing but zeros, as the kernel wants unused fields.
template <class Struct>
[[nodiscard]] Struct zeroed() noexcept {
  static_assert(std::is_trivially_copyable_v<Struct>);
  return std::bit_cast<Struct>(std::array<std::byte, sizeof(Struct)>{});
}

}  // namespace datum::vfio::uapi
