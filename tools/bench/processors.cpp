#include "tools/bench/processors.hpp"

#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>

namespace datum::bench {
namespace {

cpu_set_t only(int processor) {
  cpu_set_t set;
  CPU_ZERO(&set);
  CPU_SET(processor, &set);
  return set;
}

/// The first processor of `set` from `from` on; CPU_SETSIZE: none.
int next_processor(const cpu_set_t& set, int from) {
  while (from < CPU_SETSIZE && !CPU_ISSET(from, &set)) {
    ++from;
  }
  return from;
}

void move_other_threads(const cpu_set_t& to) {
  std::error_code ended;  // a thread may end while it is looked at
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/task", ended)) {
    const auto thread = static_cast<pid_t>(std::stol(entry.path().filename()));
    if (thread != ::gettid()) {
      static_cast<void>(::sched_setaffinity(thread, sizeof to, &to));
    }
  }
}

/// Nothing happens where `to` is empty.
void move_all_threads(const cpu_set_t& to) {
  if (CPU_COUNT(&to) != 0) {
    static_cast<void>(::sched_setaffinity(0, sizeof to, &to));
    move_other_threads(to);
  }
}

}  // namespace

ProcessorOfOnesOwn::ProcessorOfOnesOwn() {
  if (::sched_getaffinity(0, sizeof before_, &before_) != 0 || CPU_COUNT(&before_) < 2) {
    CPU_ZERO(&before_);
    return;
  }
  const int first = next_processor(before_, 0);
  const cpu_set_t own = only(first);
  move_other_threads(only(next_processor(before_, first + 1)));
  static_cast<void>(::sched_setaffinity(0, sizeof own, &own));
}

ProcessorOfOnesOwn::~ProcessorOfOnesOwn() { move_all_threads(before_); }

OneProcessorForAll::OneProcessorForAll() {
  if (::sched_getaffinity(0, sizeof before_, &before_) != 0) {
    CPU_ZERO(&before_);
    return;
  }
  move_all_threads(only(next_processor(before_, 0)));
}

OneProcessorForAll::~OneProcessorForAll() { move_all_threads(before_); }

}  // namespace datum::bench
