#include "driver/command/event_pool.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "driver/device/limits.hpp"
#include "driver/object/device.hpp"

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
  memory->taken_.resize(count, false);
  return memory;
}

Status EventMemory::allocate(std::uint64_t bytes) {
  if (devices_.size() > 1) {
    Result<void*> shared = context_.allocate_host(bytes, 0, false);
    if (!shared) {
      return std::move(shared).error();
    }
    allocation_ = *shared;
    slots_ = static_cast<EventSlot*>(allocation_);
    return {};
  }
  Result<HostBlock> block = devices_.front()->arena().allocate(bytes);
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
  if (allocation_ != nullptr) {
    static_cast<void>(context_.free(allocation_));
  }
  context_.remove_child();
}

bool EventMemory::has(const Device& device) const noexcept {
  return std::find(devices_.begin(), devices_.end(), &device) != devices_.end();
}

bool EventMemory::take(std::uint32_t index) {
  const std::lock_guard lock(mutex_);
  if (index >= taken_.size() || taken_[index]) {
    return false;
  }
  taken_[index] = true;
  return true;
}

void EventMemory::give_back(std::uint32_t index) {
  const std::lock_guard lock(mutex_);
  taken_[index] = false;
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
  Result<std::shared_ptr<EventMemory>> memory = EventMemory::create(context, devices, count);
  if (!memory) {
    return std::move(memory).error();
  }
  std::unique_ptr<EventPool> pool(new EventPool(std::move(*memory), count, flags, timestamps, counter_flags));
  Result<HandleSlot*> handle = register_handle(ObjectType::event_pool, pool.get());
  if (!handle) {
    return std::move(handle).error();
  }
  pool->handle_ = *handle;
  return pool.release();
}

Status EventPool::destroy() {
  {
    const std::lock_guard lock(mutex_);
    if (live_events_ != 0) {
      return make_error(ErrorCode::handle_object_in_use,
                        fmt::format("{} events of the pool still exist", live_events_),
                        "destroy the events first");
    }
    unregister_handle(handle_);
  }
  delete this;
  return {};
}

void EventPool::add_event() noexcept {
  const std::lock_guard lock(mutex_);
  ++live_events_;
}

void EventPool::remove_event() noexcept {
  const std::lock_guard lock(mutex_);
  --live_events_;
}

}  // namespace datum
