// How this run of the tests was started: through which path of the loader, and on which kind of board.
#pragma once

#include <string>

namespace datum::test {

/// The path that a call takes from the program to the driver. ctest sets DATUM_TEST_MODE to one of the names.
enum class Mode {
  single,       ///< "single": the loader hands out the driver's own functions
  intercept,    ///< "intercept": the loader's functions stand between, the handles are the driver's
  wrapped,      ///< "wrapped": the loader's functions stand between and wrap every handle
  validation,   ///< "validation": as single, under the validation layer (parameters and handle lifetime)
  two_drivers,  ///< "two_drivers": two copies of the driver in one process, the tests use the second
  two_boards,   ///< "two_boards": one driver with two boards
};

[[nodiscard]] Mode mode();

/// A null or random handle gets past the loader: elsewhere the loader itself follows it and the process ends.
[[nodiscard]] bool bad_handles_are_survivable();
/// A handle of a destroyed object gets past the loader: not where the loader has wrapped it and freed the
/// wrapper.
[[nodiscard]] bool stale_handles_are_survivable();
/// Whether an array of handles is null gets past the loader: where it wraps handles it makes an array of its
/// own.
[[nodiscard]] bool null_arrays_reach_the_driver();
/// The validation layer's own opinion comes before the driver's.
[[nodiscard]] bool under_validation();

/// The board is simulated clock by clock: choose small sizes.
[[nodiscard]] bool on_rtl();

/// `fast` on boards that move data at memory speed, `rtl` on those that are simulated clock by clock.
template <class T>
[[nodiscard]] T by_board(T fast, T rtl) {
  return on_rtl() ? rtl : fast;
}

/// The program was built with a sanitizer that owns the address space (limits on it cannot be tested).
[[nodiscard]] constexpr bool sanitized() {
#if defined(__SANITIZE_ADDRESS__) || defined(__SANITIZE_THREAD__)  // as GCC says it
  return true;
#elif defined(__has_feature)  // as clang does
  return __has_feature(address_sanitizer) || __has_feature(thread_sanitizer);
#else
  return false;
#endif
}

/// The seed of everything random in a run: DATUM_TEST_SEED, else 1. main() prints it.
[[nodiscard]] unsigned long long test_seed();

/// The value of an environment variable, or `otherwise`.
[[nodiscard]] std::string environment(const char* name, const std::string& otherwise = {});

}  // namespace datum::test

/// Skips the running test where the loader would crash on a handle before the driver sees it.
#define DATUM_NEEDS_SURVIVABLE_BAD_HANDLES()                                                                 \
  do {                                                                                                       \
    if (!datum::test::bad_handles_are_survivable()) {                                                        \
      GTEST_SKIP() << "the loader follows bad handles in this mode";                                         \
    }                                                                                                        \
  } while (false)

#define DATUM_NEEDS_SURVIVABLE_STALE_HANDLES()                                                               \
  do {                                                                                                       \
    if (!datum::test::stale_handles_are_survivable()) {                                                      \
      GTEST_SKIP() << "the loader follows stale handles in this mode";                                       \
    }                                                                                                        \
  } while (false)
