// What a process of the soak has found wrong, and how its scenes end early.
#pragma once

#include <atomic>
#include <mutex>
#include <stdexcept>
#include <string>

#include <level_zero/ze_api.h>

namespace datum::soak {

/// Ends a scene: a call answered what it must not, or bytes are wrong.
class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Ends a scene: a call answered DEVICE_LOST.
class BoardLost : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// The first thing that went wrong in this process.
class Verdict {
 public:
  void fail(const std::string& what);

  [[nodiscard]] bool failed() const noexcept { return failed_.load(); }

  [[nodiscard]] std::string first_failure() const;

 private:
  mutable std::mutex mutex_;
  std::string first_;
  std::atomic<bool> failed_{false};
};

[[nodiscard]] Verdict& verdict();

/// Objects of the API that this process has made and not ended.
[[nodiscard]] std::atomic<long>& live_objects();

/// The end of an object that failed: known to this thread until it asks. An end comes about in destructors,
/// also while a scene ends early.
void note_failed_end(const std::string& what);
/// Ends the scene if an end failed in this thread since the last time it asked.
void require_clean_ends();

/// Ends the scene unless the code is SUCCESS.
void check(ze_result_t code, const char* call);
/// Ends the scene unless the condition holds.
void require(bool holds, const std::string& what);
/// Ends the scene unless `count` bytes of a pattern with that seed are there.
void require_pattern(const void* found, std::size_t count, std::uint64_t seed, const char* where);

}  // namespace datum::soak
