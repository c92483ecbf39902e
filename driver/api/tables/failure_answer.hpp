// How a function of the API says that it failed, whatever its return type.
#pragma once

#include <cstdint>
#include <limits>
#include <type_traits>

#include <level_zero/ze_ddi_common.h>

namespace datum::api {

/// `code` for the functions that return a result code. The few that return a handle or an identifier have no
/// room for it: the specification gives them the null handle and UINT32_MAX.
template <class Return>
constexpr Return failure_answer([[maybe_unused]] ze_result_t code) noexcept {
  if constexpr (std::is_same_v<Return, ze_result_t>) {
    return code;
  } else if constexpr (std::is_same_v<Return, std::uint32_t>) {
    return std::numeric_limits<std::uint32_t>::max();
  } else {
    static_assert(std::is_pointer_v<Return>, "what the specification returns on failure is not known here");
    return nullptr;
  }
}

}  // namespace datum::api
