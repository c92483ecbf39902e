// A hint to the processor that this is a spinning loop.
#pragma once

#include <thread>

namespace datum::sim {

inline void processor_pause() noexcept {
#if defined(__x86_64__)
  __builtin_ia32_pause();
#else
  std::this_thread::yield();
#endif
}

}  // namespace datum::sim
