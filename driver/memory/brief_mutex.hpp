// A lock for a few tens of nanoseconds.
#pragma once

#include <pthread.h>

namespace datum {

/// Whoever finds it taken tries for a moment before going to sleep: it is given back sooner than the kernel
/// could be asked. For work without system calls.
class BriefMutex {
 public:
  BriefMutex() noexcept = default;
  BriefMutex(const BriefMutex&) = delete;
  BriefMutex& operator=(const BriefMutex&) = delete;

  ~BriefMutex() { pthread_mutex_destroy(&mutex_); }

  void lock() noexcept { pthread_mutex_lock(&mutex_); }

  bool try_lock() noexcept { return pthread_mutex_trylock(&mutex_) == 0; }

  void unlock() noexcept { pthread_mutex_unlock(&mutex_); }

 private:
  pthread_mutex_t mutex_ = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
};

}  // namespace datum
