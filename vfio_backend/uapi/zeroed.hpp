// Kernel structures that end in an array of unknown size have no initialiser that every compiler takes.
#pragma once

#include <cstring>
#include <type_traits>

namespace datum::vfio::uapi {

/// A structure of nothing but zeros, as the kernel wants unused fields.
template <class Struct>
[[nodiscard]] Struct zeroed() noexcept {
  static_assert(std::is_trivially_copyable_v<Struct>);
  Struct value;
  std::memset(static_cast<void*>(&value), 0, sizeof value);
  return value;
}

}  // namespace datum::vfio::uapi
