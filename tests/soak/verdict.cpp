#include "tests/soak/verdict.hpp"

#include <utility>

#include "tests/support/api_session.hpp"
#include "tests/support/pattern.hpp"
#include "tests/support/result_text.hpp"

namespace datum::soak {
namespace {

thread_local std::string failed_end;

}  // namespace

void Verdict::fail(const std::string& what) {
  const std::lock_guard guard(mutex_);
  if (first_.empty()) {
    first_ = what;
  }
  failed_ = true;
}

std::string Verdict::first_failure() const {
  const std::lock_guard guard(mutex_);
  return first_;
}

Verdict& verdict() {
  static Verdict of_this_process;
  return of_this_process;
}

std::atomic<long>& live_objects() {
  static std::atomic<long> of_this_process{0};
  return of_this_process;
}

void note_failed_end(const std::string& what) {
  if (failed_end.empty()) {
    failed_end = what;
  }
}

void require_clean_ends() {
  const std::string failure = std::exchange(failed_end, {});
  require(failure.empty(), failure);
}

void check(ze_result_t code, const char* call) {
  if (code == ZE_RESULT_SUCCESS) {
    return;
  }
  const std::string text =
      std::string(call) + " answered " + test::result_text(code) + ": " + test::last_error_text();
  if (code == ZE_RESULT_ERROR_DEVICE_LOST) {
    throw BoardLost(text);
  }
  throw Failure(text);
}

void require(bool holds, const std::string& what) {
  if (!holds) {
    throw Failure(what);
  }
}

void require_pattern(const void* found, std::size_t count, std::uint64_t seed, const char* where) {
  const test::Bytes expected = test::pattern(count, seed);
  const ::testing::AssertionResult same = test::same_bytes(expected.data(), found, count);
  require(same, std::string(where) + ": " + same.message());
}

}  // namespace datum::soak
