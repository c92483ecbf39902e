// The boundary between the API and the driver: no C++ exception crosses it.
#pragma once

#include <new>

#include <level_zero/ze_ddi_common.h>

#include "driver/api/result.hpp"
#include "driver/api/tables/failure_answer.hpp"

namespace datum::api {

template <auto Function>
struct Guard;

template <class Return, class... Arguments, Return (*Function)(Arguments...)>
struct Guard<Function> {
  static Return ZE_APICALL call(Arguments... arguments) noexcept {
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
};

/// `Function` as the tables hold it. The driver reports errors as values; what may still be thrown is the
/// standard library's own, above all std::bad_alloc, and a C program has no way to catch it.
template <auto Function>
constexpr auto guarded = &Guard<Function>::call;

}  // namespace datum::api
