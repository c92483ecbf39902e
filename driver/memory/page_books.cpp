#include "driver/memory/page_books.hpp"

#include <sched.h>
#include <utility>

#include <datum/base/mutex.hpp>

namespace datum {

PageBooks::~PageBooks() {
  // Only memory of the books: the spaces may be gone.
  const auto let_go = [](BackingList& list) {
    while (MemoryBacking* backing = list.first()) {
      list.remove(*backing);
    }
  };
  for (Shard& shard : shards_) {
    let_go(shard.live);
    for (Stack& stack : shard.stacks) {
      let_go(stack.mapped);
      let_go(stack.unmapped);
    }
  }
}

PageBooks::Stack* PageBooks::Shard::stack_of(const PageKind& kind) noexcept {
  for (std::size_t index = 0; index < kinds; ++index) {
    if (stacks[index].kind == kind) {
      return &stacks[index];
    }
  }
  return nullptr;
}

PageBooks::Stack* PageBooks::Shard::stack_for(const PageKind& kind) noexcept {
  Stack* stack = stack_of(kind);
  if (stack == nullptr && kinds < most_kinds) {
    stack = &stacks[kinds++];
    stack->kind = kind;
  }
  return stack;
}

/// A thread may move on at once: then it shares a shard for a while.
std::size_t PageBooks::here() noexcept {
  const int processor = ::sched_getcpu();
  return processor < 0 ? 0 : static_cast<std::size_t>(processor) % shard_count;
}

void PageBooks::add_space(AddressSpace& space) {
  spaces_.push_back(&space);
  space.set_books(this);
}

std::uint64_t PageBooks::commits() const noexcept {
  std::uint64_t sum = 0;
  for (const AddressSpace* space : spaces_) {
    sum += space->commits();
  }
  return sum;
}

void PageBooks::add(std::shared_ptr<MemoryBacking> backing) noexcept {
  const std::size_t index = here();
  backing->shard_ = static_cast<std::uint8_t>(index);
  const ScopedLock lock(shards_[index].mutex);
  shards_[index].live.add(std::move(backing));
}

std::shared_ptr<MemoryBacking> PageBooks::remove(MemoryBacking& backing) noexcept {
  Shard& shard = shards_[backing.shard_];
  const ScopedLock lock(shard.mutex);
  return shard.live.remove(backing);
}

MemoryBacking* PageBooks::first() noexcept {
  for (Shard& shard : shards_) {
    const ScopedLock lock(shard.mutex);
    if (MemoryBacking* backing = shard.live.first()) {
      return backing;
    }
  }
  return nullptr;
}

PageBooks::Reused PageBooks::reuse(const PageKind& kind) noexcept {
  Shard& shard = shards_[here()];
  const ScopedLock lock(shard.mutex);
  Stack* const stack = shard.stack_of(kind);
  if (stack == nullptr || stack->count == 0) {
    return {};
  }
  --stack->count;
  BackingList& list = stack->mapped.first() != nullptr ? stack->mapped : stack->unmapped;
  MemoryBacking* const page = list.first();
  shard.live.add(list.remove(*page));
  if (shard.next_id == shard.end_id) {
    shard.next_id = next_id_.fetch_add(ids_at_once, std::memory_order_relaxed);
    shard.end_id = shard.next_id + ids_at_once;
  }
  return {page, shard.next_id++};
}

/// Under the shard's lock. Whether there was room.
bool PageBooks::make_idle(Shard& shard, MemoryBacking& backing, BackingList Stack::*list) noexcept {
  Stack* const stack = backing.may_idle() ? shard.stack_for(backing.kind_) : nullptr;
  if (stack == nullptr || stack->count == most_idle) {
    return false;
  }
  ++stack->count;
  (stack->*list).add(shard.live.remove(backing));
  return true;
}

bool PageBooks::keep_mapped(MemoryBacking& backing) noexcept {
  Shard& shard = shards_[backing.shard_];
  const ScopedLock lock(shard.mutex);
  return backing.mapped_at_ == commits() && make_idle(shard, backing, &Stack::mapped);
}

bool PageBooks::keep_unmapped(MemoryBacking& backing) noexcept {
  Shard& shard = shards_[backing.shard_];
  const ScopedLock lock(shard.mutex);
  if (!make_idle(shard, backing, &Stack::unmapped)) {
    return false;
  }
  backing.mapped_at_ = MemoryBacking::unmapped;
  return true;
}

// The lock of the books is those of all shards.

void PageBooks::lock() noexcept DATUM_NOT_CHECKED {
  for (Shard& shard : shards_) {
    shard.mutex.lock();
  }
}

void PageBooks::unlock() noexcept DATUM_NOT_CHECKED {
  for (Shard& shard : shards_) {
    shard.mutex.unlock();
  }
}

void PageBooks::withdraw() noexcept DATUM_NOT_CHECKED {
  for (Shard& shard : shards_) {
    for (std::size_t index = 0; index < shard.kinds; ++index) {
      Stack& stack = shard.stacks[index];
      while (MemoryBacking* page = stack.mapped.first()) {
        for (std::size_t space = 0; space < spaces_.size(); ++space) {
          if (stack.kind.board == PageKind::in_host || stack.kind.board == space) {
            spaces_[space]->unmap(DeviceVa{page->base()}, page_bytes);  // no board has seen it
          }
        }
        page->mapped_at_ = MemoryBacking::unmapped;
        stack.unmapped.add(stack.mapped.remove(*page));
      }
    }
  }
}

void PageBooks::give_back() noexcept DATUM_NOT_CHECKED {
  BackingList ended;  // goes without the lock
  {
    const ScopedLock<PageBooks> all(*this);
    withdraw();
    for (Shard& shard : shards_) {
      for (std::size_t index = 0; index < shard.kinds; ++index) {
        Stack& stack = shard.stacks[index];
        while (MemoryBacking* page = stack.unmapped.first()) {
          ended.add(stack.unmapped.remove(*page));
        }
        stack.count = 0;
      }
    }
  }
  while (MemoryBacking* page = ended.first()) {
    ended.remove(*page);
  }
}

}  // namespace datum
