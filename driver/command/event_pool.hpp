// A pool of events: memory that the board and the host signal in.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <unordered_set>
#include <vector>

#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>

#include "driver/command/event_word.hpp"
#include "driver/memory/host_memory.hpp"
#include "driver/memory/ipc_handle.hpp"
#include "driver/object/context.hpp"
#include "driver/object/handle_table.hpp"

namespace datum {

class Device;
class Event;
struct OpenedFile;

/// Of the pool flags: it may be opened by other processes.
inline constexpr std::uint32_t shared_pool_flag = 2;
/// Either kind of timestamps.
inline constexpr std::uint32_t timestamp_pool_flags = 4 | 8;

/// The slots of one pool, in the spaces of its devices at their host address. Lives until the pool and the
/// last event that the board works with are gone.
class EventMemory {
 public:
  static Result<std::shared_ptr<EventMemory>> create(Context& context, const std::vector<Device*>& devices,
                                                     std::uint32_t count);
  /// In a file of its own, which other processes may open; `flags` are told to them. Of events, or of a
  /// counter, which nobody but its creator writes.
  static Result<std::shared_ptr<EventMemory>> create_shared(Context& context,
                                                            const std::vector<Device*>& devices,
                                                            std::uint32_t count, std::uint32_t flags,
                                                            SharedKind kind = SharedKind::events);
  /// The slots that another process, or this one, made so; for all devices of the context.
  /// invalid_argument: the file holds nothing of the kind.
  static Result<std::shared_ptr<EventMemory>> open(Context& context, const OpenedFile& file,
                                                   SharedKind kind = SharedKind::events);
  ~EventMemory();
  EventMemory(const EventMemory&) = delete;
  EventMemory& operator=(const EventMemory&) = delete;

  [[nodiscard]] EventSlot& slot(std::uint32_t index) noexcept { return slots_[index]; }

  [[nodiscard]] Context& context() noexcept { return context_; }

  [[nodiscard]] const std::vector<Device*>& devices() const noexcept { return devices_; }

  [[nodiscard]] bool has(const Device& device) const noexcept;

  /// Other processes may write to the slots.
  [[nodiscard]] bool shared() const noexcept { return header_ != nullptr; }

  /// By EventMemory::open.
  [[nodiscard]] bool opened() const noexcept { return opened_; }

  /// Of opened slots: what the creator told.
  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

  [[nodiscard]] std::uint32_t flags() const noexcept { return flags_; }

  /// Of slots by create_shared: a handle for other processes, to be counted by the driver's ExportTable where
  /// handles are put back (those of counters are not). Of others: invalid_synchronization_object.
  Result<IpcHandleBytes> export_file();
  void end_export() noexcept;

  /// False: taken, or outside the pool.
  bool take(std::uint32_t index) noexcept;
  void give_back(std::uint32_t index) noexcept;

 private:
  EventMemory(Context& context, std::vector<Device*> devices);
  Status allocate(std::uint64_t bytes);
  void set_count(std::uint32_t count);
  Status map_shared(int file, const SharedFileIdentity& identity);

  /// Boards and hosts of other processes write the words.
  [[nodiscard]] bool written_elsewhere() const noexcept { return opened_ || kind_ == SharedKind::events; }

  Context& context_;
  std::vector<Device*> devices_;
  EventSlot* slots_ = nullptr;
  HostBlock block_;  ///< of the only device's arena
  bool mapped_ = false;
  void* allocation_ = nullptr;  ///< of the context, for several devices
  void* header_ = nullptr;      ///< of slots in a file; they follow it
  bool opened_ = false;
  SharedKind kind_ = SharedKind::events;         ///< of slots in a file
  std::uint32_t flags_ = 0;                      ///< of slots in a file
  std::uint64_t export_id_ = 0;                  ///< of slots by create_shared
  UniqueFd file_ DATUM_GUARDED_BY(file_mutex_);  ///< of slots by create_shared, until the first export
  Mutex file_mutex_;
  std::uint32_t count_ = 0;
  std::vector<std::atomic<std::uint64_t>> taken_;  ///< a bit for each slot
};

/// Thread safe.
class EventPool {
 public:
  /// `count` > 0; `devices` are of `context`, none: all of them. out_of_host_memory.
  /// `counter_flags`: not 0 for a pool of counter-based events.
  static Result<EventPool*> create(Context& context, std::vector<Device*> devices, std::uint32_t count,
                                   std::uint32_t flags, bool timestamps, std::uint32_t counter_flags = 0);
  /// What `file` says; see EventMemory::open.
  static Result<EventPool*> open(Context& context, const OpenedFile& file);
  /// A handle for other processes. invalid_synchronization_object: the pool was not created to be shared.
  Result<IpcHandleBytes> ipc_handle();
  /// Destroys the events that are left, and the pool. invalid_argument: it was not opened.
  Status close();
  /// handle_object_in_use while events of the pool exist.
  Status destroy();
  EventPool(const EventPool&) = delete;
  EventPool& operator=(const EventPool&) = delete;
  ~EventPool();

  [[nodiscard]] Context& context() noexcept { return memory_->context(); }

  [[nodiscard]] std::uint32_t count() const noexcept { return count_; }

  [[nodiscard]] std::uint32_t flags() const noexcept { return flags_; }

  [[nodiscard]] bool has_timestamps() const noexcept { return timestamps_; }

  [[nodiscard]] std::uint32_t counter_flags() const noexcept { return counter_flags_; }

  [[nodiscard]] const std::shared_ptr<EventMemory>& memory() const noexcept { return memory_; }

  [[nodiscard]] HandleSlot* handle() noexcept { return handle_; }

  void add_event(Event& event);
  void remove_event(Event& event) noexcept;

 private:
  EventPool(std::shared_ptr<EventMemory> memory, std::uint32_t count, std::uint32_t flags, bool timestamps,
            std::uint32_t counter_flags) noexcept
      : memory_(std::move(memory)),
        count_(count),
        flags_(flags),
        timestamps_(timestamps),
        counter_flags_(counter_flags) {}

  static Result<EventPool*> publish(std::unique_ptr<EventPool> pool);

  std::shared_ptr<EventMemory> memory_;
  std::uint32_t count_;
  std::uint32_t flags_;
  bool timestamps_;
  std::uint32_t counter_flags_;
  std::atomic<std::uint32_t> live_events_{0};
  Mutex opened_mutex_;
  std::unordered_set<Event*>
      opened_events_ DATUM_GUARDED_BY(opened_mutex_);  ///< of an opened pool, which takes them with it
  HandleSlot* handle_ = nullptr;
};

}  // namespace datum
