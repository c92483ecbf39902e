// The boundary between the API and the driver: no C++ exception crosses it, and calls are seen by the trace.
#pragma once

#include <new>
#include <type_traits>

#include <level_zero/ze_ddi_common.h>

#include "driver/api/result.hpp"
#include "driver/api/tables/failure_answer.hpp"
#include "driver/api/tables/function_name.hpp"
#include "driver/api/tables/traced_allocation.hpp"
#include "driver/trace/trace.hpp"

namespace datum::api {

template <auto Function, FunctionName Signature>
struct Guard;

template <class Return, class... Arguments, Return (*Function)(Arguments...), FunctionName Signature>
struct Guard<Function, Signature> {
  static Return ZE_APICALL call(Arguments... arguments) noexcept {
    if (trace::on()) [[unlikely]] {
      return traced(arguments...);
    }
    return unseen(arguments...);
  }

 private:
  static Return unseen(Arguments... arguments) noexcept {
    try {
      return Function(arguments...);
    } catch (const std::bad_alloc&) {
      return failure_answer<Return>(
          refuse(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory was left for the driver's own bookkeeping"));
    } catch (...) {
      return failure_answer<Return>(
          refuse(ZE_RESULT_ERROR_UNKNOWN,
                 "the driver met an error that it has no answer to; this is a fault of Datum"));
    }
  }

  [[gnu::noinline, gnu::cold]] static Return traced(Arguments... arguments) noexcept {
    trace::Call seen(Signature.text, {trace::word_of(arguments)...});
    note_free<Signature>(arguments...);
    Return answer = unseen(arguments...);
    if constexpr (std::is_same_v<Return, ze_result_t>) {
      seen.set_result(answer);
      if (answer == ZE_RESULT_SUCCESS) {
        note_allocation<Signature>(arguments...);
      }
    }
    return answer;
  }
};

/// `Function` as the tables hold it. The driver reports errors as values; what may still be thrown is the
/// standard library's own, above all std::bad_alloc, and a C program has no way to catch it. `Signature` is
/// its name and those of its parameters. Without a trace that costs one relaxed load.
template <auto Function, FunctionName Signature>
constexpr auto guarded = &Guard<Function, Signature>::call;

}  // namespace datum::api
