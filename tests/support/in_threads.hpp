// Several threads that start together.
#pragma once

#include <atomic>
#include <mutex>
#include <string>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

namespace datum::test {

/// Runs `body(index)` in `count` threads that start together; fails the test with the first message that one
/// of them returns.
template <class Body>
void in_threads(unsigned count, Body&& body) {
  std::atomic<unsigned> ready{0};
  std::mutex lock;
  std::string first_failure;
  std::vector<std::thread> threads;
  for (unsigned i = 0; i < count; ++i) {
    threads.emplace_back([&, i] {
      ++ready;
      while (ready.load() != count) {
        std::this_thread::yield();
      }
      const std::string failure = body(i);
      const std::lock_guard guard(lock);
      if (first_failure.empty()) {
        first_failure = failure;
      }
    });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  EXPECT_EQ("", first_failure);
}

}  // namespace datum::test
