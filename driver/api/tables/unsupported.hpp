// What a table holds for a function that is not built.
#pragma once

#include <string_view>

#include <level_zero/ze_ddi_common.h>

#include "driver/api/tables/failure_answer.hpp"
#include "driver/api/tables/function_name.hpp"

namespace datum::api {

/// UNSUPPORTED_FEATURE; the thread's last error description names the function.
ze_result_t refuse_unbuilt(std::string_view function) noexcept;

template <class Pointer, FunctionName Name>
struct Unsupported;

template <class Return, class... Arguments, FunctionName Name>
struct Unsupported<Return(ZE_APICALL*)(Arguments...), Name> {
  static Return ZE_APICALL answer(Arguments...) noexcept {
    return failure_answer<Return>(refuse_unbuilt(Name.text));
  }
};

/// A function of the type that `Pointer` points to, which answers ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
/// whatever its arguments.
template <class Pointer, FunctionName Name>
constexpr Pointer unsupported = &Unsupported<Pointer, Name>::answer;

}  // namespace datum::api
