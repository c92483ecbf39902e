// Result codes as text, so that a failed expectation names the code instead of its number.
#pragma once

#include <iosfwd>
#include <string>

#include <level_zero/ze_api.h>

namespace datum::test {

[[nodiscard]] std::string result_text(ze_result_t result);

}  // namespace datum::test

/// Found by GoogleTest: ze_result_t lives in the global namespace.
void PrintTo(const ze_result_t& result, std::ostream* out);
