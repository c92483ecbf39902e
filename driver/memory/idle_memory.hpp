// Freed allocations of one page that wait for the next of their kind: with their page of the board's memory
// and their addresses, so that taking one costs none of the books of either.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>

#include "driver/memory/brief_mutex.hpp"
#include "driver/memory/memory_backing.hpp"

namespace datum {

/// Of one context on one device. What is here is mapped nowhere, the board never saw it mapped, and its page
/// holds nothing of another context's. Its lock is the context's own, of its live allocations, which is held
/// at these moments in any case.
class IdleMemory {
 public:
  static constexpr std::uint64_t bytes = small_page_bytes;  ///< of each

  explicit IdleMemory(BriefMutex& allocations_mutex) noexcept : mutex_(allocations_mutex) {}

  IdleMemory(const IdleMemory&) = delete;
  IdleMemory& operator=(const IdleMemory&) = delete;

  ~IdleMemory() { give_back(); }

  /// Under the lock. Null: there is none in the memory of that ordinal.
  [[nodiscard]] std::shared_ptr<MemoryBacking> take(std::uint32_t ordinal) noexcept {
    Stack& stack = stacks_[ordinal];
    MemoryBacking* const top = stack.list.first();
    if (top == nullptr) {
      return nullptr;
    }
    --stack.count;
    return stack.list.remove(*top);
  }

  /// Under the lock. Takes `backing` unless there are enough; whether it did.
  bool keep(std::uint32_t ordinal, std::shared_ptr<MemoryBacking>& backing) noexcept {
    Stack& stack = stacks_[ordinal];
    if (stack.count == most) {
      return false;
    }
    ++stack.count;
    stack.list.add(std::move(backing));
    return true;
  }

  /// Without the lock. All of it goes back to the board's memory and the window.
  void give_back() noexcept {
    for (std::uint32_t ordinal = 0; ordinal < stacks_.size(); ++ordinal) {
      for (bool any = true; any;) {
        std::shared_ptr<MemoryBacking> ended;  // goes without the lock
        const std::scoped_lock lock(mutex_);
        ended = take(ordinal);
        any = ended != nullptr;
      }
    }
  }

 private:
  static constexpr unsigned most = 64;  // in each memory: enough for a burst, and little for the board

  struct Stack {
    BackingList list;
    unsigned count = 0;
  };

  BriefMutex& mutex_;
  std::array<Stack, 2> stacks_;  ///< by ordinal
};

}  // namespace datum
