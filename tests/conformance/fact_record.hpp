// What the API tests of a process have been seen to show, written to a file as it happens.
#pragma once

#include <level_zero/ze_api.h>

namespace datum::test::conformance {

/// A call and its answer. `function` outlives the process's tests.
struct Call {
  const char* function;
  ze_result_t result;
};

/// True where the environment names a file of facts (DATUM_CONFORMANCE_FACTS). Never changes.
[[nodiscard]] bool recording();

/// Notes that `call` was made, and with `argument` if one is given: once for each test. `argument` outlives
/// the process's tests. Any thread, also in a forked child; takes no lock and no memory, and leaves errno
/// alone.
void note(const Call& call, const char* argument = nullptr);

/// For the program's main: from now on facts belong to the test that runs, and a test that passes is noted
/// too. Without it they belong to the test of the process that started this one.
void follow_tests();

}  // namespace datum::test::conformance
