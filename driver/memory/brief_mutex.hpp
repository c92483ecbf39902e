// A lock for a few tens of nanoseconds.
#pragma once

#include <pthread.h>

#include <datum/base/mutex.hpp>

namespace datum {

/// Whoever finds it taken tries for a moment before going to sleep: it is given back sooner than the kernel
/// could be asked. For work without system calls.
class DATUM_LOCKABLE BriefMutex {
 public:
  BriefMutex() noexcept = default;
  BriefMutex(const BriefMutex&) = delete;
  BriefMutex& operator=(const BriefMutex&) = delete;

  ~BriefMutex() { pthread_mutex_destroy(&mutex_); }

  void lock() noexcept DATUM_ACQUIRES() { pthread_mutex_lock(&mutex_); }

  bool try_lock() noexcept DATUM_TRIES_TO_ACQUIRE(true) { return pthread_mutex_trylock(&mutex_) == 0; }

  void unlock() noexcept DATUM_RELEASES() { pthread_mutex_unlock(&mutex_); }

  /// For the body of a function object that is only called with the lock held.
  void assert_held() const noexcept DATUM_ASSERTS_HELD() {}

 private:
  pthread_mutex_t mutex_ = PTHREAD_ADAPTIVE_MUTEX_INITIALIZER_NP;
};

}  // namespace datum
