// For tests of what a process does that may have no more threads.
#pragma once

#include <cstddef>
#include <pthread.h>

namespace datum::test {

/// While it lives, no thread can be started in this process: the stack of each would be larger than the
/// address space. A limit of the user's processes does the same, but means nothing to root.
class NoMoreThreads {
 public:
  NoMoreThreads() {
    pthread_attr_init(&before_);
    pthread_getattr_default_np(&before_);
    pthread_attr_t none;
    pthread_attr_init(&none);
    pthread_attr_setstacksize(&none, std::size_t{1} << 50U);
    pthread_setattr_default_np(&none);
    pthread_attr_destroy(&none);
  }

  ~NoMoreThreads() {
    pthread_setattr_default_np(&before_);
    pthread_attr_destroy(&before_);
  }

  NoMoreThreads(const NoMoreThreads&) = delete;
  NoMoreThreads& operator=(const NoMoreThreads&) = delete;

 private:
  pthread_attr_t before_;
};

}  // namespace datum::test
