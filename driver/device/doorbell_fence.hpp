// The order between memory that the board reads and the register write that tells it to.
#pragma once

#include <atomic>

namespace datum {

/// What was written to memory before is there when a register write that follows reaches the board.
inline void doorbell_fence() noexcept {
#if defined(__SANITIZE_THREAD__)
  // ThreadSanitizer does not know fences; the simulated boards it runs on order by the locks of their
  // registers.
#else
  std::atomic_thread_fence(std::memory_order_seq_cst);
#endif
}

}  // namespace datum
