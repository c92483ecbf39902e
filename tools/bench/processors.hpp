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

/// For the scope: every thread of the process shares one processor, also those that begin meanwhile. So no
/// thread is woken on a processor that was idle, which in a virtual machine costs tens of microseconds.
class OneProcessorForAll {
 public:
  OneProcessorForAll();
  ~OneProcessorForAll();
  OneProcessorForAll(const OneProcessorForAll&) = delete;
  OneProcessorForAll& operator=(const OneProcessorForAll&) = delete;

 private:
  cpu_set_t before_{};
};

}  // namespace datum::bench
