// A pool of events: memory that the board and the host signal in.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>
#include <vector>

#include <datum/base/result.hpp>

#include "driver/command/event_word.hpp"
#include "driver/memory/host_memory.hpp"
#include "driver/object/context.hpp"
#include "driver/object/handle_table.hpp"

namespace datum {

class Device;
class Event;

/// The slots of one pool, in the spaces of its devices at their host address. Lives until the pool and the
/// last event that the board works with are gone.
class EventMemory {
 public:
  static Result<std::shared_ptr<EventMemory>> create(Context& context, const std::vector<Device*>& devices,
                                                     std::uint32_t count);
  ~EventMemory();
  EventMemory(const EventMemory&) = delete;
  EventMemory& operator=(const EventMemory&) = delete;

  [[nodiscard]] EventSlot& slot(std::uint32_t index) noexcept { return slots_[index]; }

  [[nodiscard]] Context& context() noexcept { return context_; }

  [[nodiscard]] const std::vector<Device*>& devices() const noexcept { return devices_; }

  [[nodiscard]] bool has(const Device& device) const noexcept;

  /// False: taken, or outside the pool.
  bool take(std::uint32_t index);
  void give_back(std::uint32_t index);

 private:
  EventMemory(Context& context, std::vector<Device*> devices);
  Status allocate(std::uint64_t bytes);

  Context& context_;
  std::vector<Device*> devices_;
  EventSlot* slots_ = nullptr;
  HostBlock block_;  ///< of the only device's arena
  bool mapped_ = false;
  void* allocation_ = nullptr;  ///< of the context, for several devices
  std::mutex mutex_;
  std::vector<bool> taken_;
};

/// Thread safe.
class EventPool {
 public:
  /// `count` > 0; `devices` are of `context`, none: all of them. out_of_host_memory.
  /// `counter_flags`: not 0 for a pool of counter-based events.
  static Result<EventPool*> create(Context& context, std::vector<Device*> devices, std::uint32_t count,
                                   std::uint32_t flags, bool timestamps, std::uint32_t counter_flags = 0);
  /// handle_object_in_use while events of the pool exist.
  Status destroy();

  [[nodiscard]] Context& context() noexcept { return memory_->context(); }

  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

  [[nodiscard]] std::uint32_t flags() const noexcept { return flags_; }

  [[nodiscard]] bool has_timestamps() const noexcept { return timestamps_; }

  [[nodiscard]] std::uint32_t counter_flags() const noexcept { return counter_flags_; }

  [[nodiscard]] const std::shared_ptr<EventMemory>& memory() const noexcept { return memory_; }

  [[nodiscard]] HandleSlot* handle() noexcept { return handle_; }

  void add_event() noexcept;
  void remove_event() noexcept;

 private:
  EventPool(std::shared_ptr<EventMemory> memory, std::uint32_t count, std::uint32_t flags, bool timestamps,
            std::uint32_t counter_flags)
      : memory_(std::move(memory)),
        count_(count),
        flags_(flags),
        timestamps_(timestamps),
        counter_flags_(counter_flags) {}

  std::shared_ptr<EventMemory> memory_;
  std::uint32_t count_;
  std::uint32_t flags_;
  bool timestamps_;
  std::uint32_t counter_flags_;
  std::mutex mutex_;
  std::uint32_t live_events_ = 0;
  HandleSlot* handle_ = nullptr;
};

}  // namespace datum
