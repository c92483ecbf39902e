#include "driver/trace/buffer.hpp"

#include <algorithm>
#include <sys/mman.h>

namespace datum::trace {

bool Buffer::allocate(std::size_t events) noexcept {
  void* const memory = ::mmap(nullptr, events * sizeof(Event), PROT_READ | PROT_WRITE,
                              MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
  if (memory == MAP_FAILED) {
    return false;
  }
  events_ = static_cast<Event*>(memory);  // zeroes are events that are not whole
  capacity_ = events;
  return true;
}

void Buffer::clear() noexcept {
  next_.store(0, std::memory_order_relaxed);
  if (events_ != nullptr) {
    static_cast<void>(::madvise(events_, capacity_ * sizeof(Event), MADV_DONTNEED));
  }
}

void Buffer::add(const Event& event) noexcept {
  const std::uint64_t position = next_.fetch_add(1, std::memory_order_relaxed);
  Event& slot = events_[position % capacity_];
  const std::atomic_ref stamp(slot.stamp);
  stamp.exchange(0, std::memory_order_acquire);  // what follows is not written before
  slot.begin_ns = event.begin_ns;
  slot.end_ns = event.end_ns;
  slot.name = event.name;
  slot.id = event.id;
  slot.result = event.result;
  slot.thread = event.thread;
  slot.kind = event.kind;
  slot.board = event.board;
  slot.ring = event.ring;
  slot.word_count = event.word_count;
  slot.words = event.words;
  stamp.store(position + 1, std::memory_order_release);
}

std::vector<const Event*> Buffer::whole() const {
  const std::uint64_t end = next_.load(std::memory_order_acquire);
  std::vector<const Event*> events;
  for (std::uint64_t position = end - std::min<std::uint64_t>(end, capacity_); position < end; ++position) {
    Event& slot = events_[position % capacity_];
    if (std::atomic_ref(slot.stamp).load(std::memory_order_acquire) == position + 1) {
      events.push_back(&slot);
    }
  }
  return events;
}

std::uint64_t Buffer::lost() const noexcept {
  const std::uint64_t end = next_.load(std::memory_order_relaxed);
  return end - std::min<std::uint64_t>(end, capacity_);
}

}  // namespace datum::trace
