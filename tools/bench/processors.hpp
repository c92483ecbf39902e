// Which processor a thread runs on while it is measured.
#pragma once

#include <sched.h>

namespace datum::bench {

/// For the scope: the calling thread has one processor, and every other thread of the process another, as far
/// as the process may use two. Threads that begin meanwhile run where their maker does.
class ProcessorOfOnesOwn {
 public:
  ProcessorOfOnesOwn();
  ~ProcessorOfOnesOwn();
  ProcessorOfOnesOwn(const ProcessorOfOnesOwn&) = delete;
  ProcessorOfOnesOwn& operator=(const ProcessorOfOnesOwn&) = delete;

 private:
  cpu_set_t before_{};
};

}  // namespace datum::bench
