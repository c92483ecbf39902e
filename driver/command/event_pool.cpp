#include "driver/command/event_pool.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

#include "driver/device/limits.hpp"
#include "driver/memory/exported_memory.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"
#include "driver/object/second_chance.hpp"

namespace datum {

EventMemory::EventMemory(Context& context, std::vector<Device*> devices)
    : context_(context), devices_(std::move(devices)) {
  context_.add_child();
}

Result<std::shared_ptr<EventMemory>>
EventMemory::create(Context& context, const std::vector<Device*>& devices, std::uint32_t count) {
  std::shared_ptr<EventMemory> memory(new EventMemory(context, devices));
  // Whole pages: a page that is mapped for a context must hold nothing of another one.
  const std::uint64_t bytes = align_up(std::uint64_t{count} * sizeof(EventSlot), small_page_bytes);
  if (Status allocated = memory->allocate(bytes); !allocated) {
    return std::move(allocated).error();
  }
  memory->set_count(count);
  return memory;
}

void EventMemory::set_count(std::uint32_t count) {
  count_ = count;
  taken_ = std::vector<std::atomic<std::uint64_t>>(count / 64 + 1);
}

Status EventMemory::allocate(std::uint64_t bytes) {
  if (devices_.size() > 1) {
    Result<void*> shared = context_.allocate_host(bytes, 0);
    if (!shared) {
      return std::move(shared).error();
    }
    allocation_ = *shared;
    slots_ = static_cast<EventSlot*>(allocation_);
    return {};
  }
  Device& device = *devices_.front();
  Result<HostBlock> block = with_second_chance([&] { return device.arena().allocate(bytes); },
                                               [&] { static_cast<void>(device.drain_quarantine()); });
  if (!block) {
    return std::move(block).error();
  }
  block_ = *block;
  slots_ = reinterpret_cast<EventSlot*>(block_.host);
  Status mapped = context_.map_block(*devices_.front(), block_, PageRights{});
  mapped_ = mapped.ok();
  return mapped;
}

EventMemory::~EventMemory() {
  if (mapped_) {
    static_cast<void>(context_.unmap_block(*devices_.front(), block_));
  }
  if (block_.host != nullptr) {
    devices_.front()->arena().free(block_);
  }
  if (header_ != nullptr) {
    static_cast<void>(context_.close_imported(header_));
    if (written_elsewhere()) {
      context_.driver().exports().remove_foreign_words();
    }
  } else if (allocation_ != nullptr) {
    static_cast<void>(context_.free(allocation_));
  }
  context_.remove_child();
}

bool EventMemory::has(const Device& device) const noexcept {
  return std::find(devices_.begin(), devices_.end(), &device) != devices_.end();
}

bool EventMemory::take(std::uint32_t index) noexcept {
  const std::uint64_t bit = 1ULL << (index % 64U);
  return index < count_ && (taken_[index / 64].fetch_or(bit, std::memory_order_acq_rel) & bit) == 0;
}

void EventMemory::give_back(std::uint32_t index) noexcept {
  taken_[index / 64].fetch_and(~(1ULL << (index % 64U)), std::memory_order_release);
}

Result<EventPool*> EventPool::create(Context& context, std::vector<Device*> devices, std::uint32_t count,
                                     std::uint32_t flags, bool timestamps, std::uint32_t counter_flags) {
  if (count > limits::max_pool_events) {
    return make_error(ErrorCode::out_of_host_memory,
                      fmt::format("a pool of {} events, the limit is {}", count, limits::max_pool_events),
                      "create several pools");
  }
  if (devices.empty()) {
    devices = context.devices();
  }
  Result<std::shared_ptr<EventMemory>> memory =
      (flags & shared_pool_flag) != 0 ? EventMemory::create_shared(context, devices, count, flags)
                                      : EventMemory::create(context, devices, count);
  if (!memory) {
    return std::move(memory).error();
  }
  return publish(
      std::unique_ptr<EventPool>(new EventPool(std::move(*memory), count, flags, timestamps, counter_flags)));
}

Result<EventPool*> EventPool::publish(std::unique_ptr<EventPool> pool) {
  Result<HandleSlot*> handle = register_handle(ObjectType::event_pool, pool.get());
  if (!handle) {
    return std::move(handle).error();
  }
  pool->handle_ = *handle;
  return pool.release();
}

Status EventPool::destroy() {
  if (const std::uint32_t left = live_events_.load(std::memory_order_acquire); left != 0) {
    return make_error(ErrorCode::handle_object_in_use, fmt::format("{} events of the pool still exist", left),
                      "destroy the events first");
  }
  unregister_handle(handle_);
  delete this;
  return {};
}

void EventPool::add_event(Event& event) {
  live_events_.fetch_add(1, std::memory_order_relaxed);
  if (memory_->opened()) {
    const ScopedLock lock(opened_mutex_);
    opened_events_.insert(&event);
  }
}

void EventPool::remove_event(Event& event) noexcept {
  if (memory_->opened()) {
    const ScopedLock lock(opened_mutex_);
    opened_events_.erase(&event);
  }
  live_events_.fetch_sub(1, std::memory_order_release);
}

}  // namespace datum
