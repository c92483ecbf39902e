// What a table holds for a function that is not built.
#pragma once

#include <level_zero/ze_ddi_common.h>

#include "driver/api/tables/failure_answer.hpp"

namespace datum::api {

template <class Pointer>
struct Unsupported;

template <class Return, class... Arguments>
struct Unsupported<Return(ZE_APICALL*)(Arguments...)> {
  static Return ZE_APICALL answer(Arguments...) noexcept {
    return failure_answer<Return>(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE);
  }
};

/// A function of the type that `Pointer` points to, which answers ZE_RESULT_ERROR_UNSUPPORTED_FEATURE and
/// touches nothing.
template <class Pointer>
constexpr Pointer unsupported = &Unsupported<Pointer>::answer;

}  // namespace datum::api
