// From Datum's errors to the result codes of the API, and the sentence that goes with the last one.
#pragma once

#include <string_view>

#include <level_zero/ze_api.h>

#include <datum/base/result.hpp>

namespace datum::api {

/// The result code that `code` stands for; one to one.
[[nodiscard]] ze_result_t result_of(ErrorCode code) noexcept;

/// SUCCESS, or the error's code; its message and hint become the calling thread's last error description.
ze_result_t answer(const Error& error) noexcept;
ze_result_t answer(const Status& status) noexcept;
/// The same for a refusal that was found in the API itself. A sentence without the subject "Datum": what was
/// wrong with which argument.
ze_result_t refuse(ze_result_t code, std::string_view sentence) noexcept;

/// What the calling thread's last failed call had to say; empty before the first. Valid until the thread's
/// next failing call.
[[nodiscard]] const char* last_error_description() noexcept;

}  // namespace datum::api
