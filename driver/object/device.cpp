#include "driver/object/device.hpp"

#include <algorithm>

#include <datum/base/mutex.hpp>

#include "driver/command/ring_scheduler.hpp"
#include "driver/device/traffic_counters.hpp"
#include "driver/memory/address_space.hpp"
#include "driver/memory/device_heap.hpp"
#include "driver/memory/dma_map.hpp"
#include "driver/memory/exported_file.hpp"
#include "driver/memory/host_memory.hpp"
#include "driver/memory/host_pool.hpp"
#include "driver/memory/page_books.hpp"
#include "driver/object/board_uuid.hpp"
#include "driver/object/driver.hpp"

namespace datum {
namespace {

// Queues share rings, so any number would work; this is how many can have work outstanding at one time
// without sharing, on a board of 64 rings with room to spare.
constexpr unsigned most_queues = 32;

// A table of the lowest level stands for 2 MiB, so tables for all of the memory take a 512th of it; the rest
// is for upper levels and the spaces of other contexts.
std::uint64_t table_reserve_for(const BoardCapabilities& board) noexcept {
  return align_up(board.memory_bytes / 512 + board.memory_bytes / 4096, small_page_bytes) + (1ULL << 20U);
}

}  // namespace

Device::Device(Driver& driver, std::unique_ptr<Board> board, unsigned index)
    : driver_(driver),
      board_(std::move(board)),
      index_(index),
      error_sets_{ErrorSet{*board_, ErrorSet::Kind::corrected},
                  ErrorSet{*board_, ErrorSet::Kind::uncorrected}} {}

Result<std::unique_ptr<Device>> Device::create(Driver& driver, std::unique_ptr<Board> board, unsigned index) {
  std::unique_ptr<Device> device(new Device(driver, std::move(board), index));
  if (Status built = device->build(); !built.ok()) {
    return std::move(built).error();
  }
  return device;
}

Status Device::build() {
  const BoardCapabilities& board = board_->capabilities();
  uuid_ = uuid_of(board_->function().info());
  dma_ = std::make_unique<DmaMap>(board_->function());
  dram_ = std::make_unique<DeviceHeap>(DeviceHeap::Options{0, board.memory_bytes, board.aperture_fixed_bytes,
                                                           board.memory_clean, table_reserve_for(board)});
  if (board.onchip_bytes >= small_page_bytes) {
    onchip_ =
        std::make_unique<DeviceHeap>(DeviceHeap::Options{1, board.onchip_bytes, 0, board.memory_clean, 0});
  }
  arena_ = std::make_unique<HostArena>(driver_.host_pool(), *dma_);
  if (Status built = build_driver_space(); !built.ok()) {
    return built;
  }
  Result<std::unique_ptr<RingScheduler>> rings = RingScheduler::create(*this);
  if (!rings.ok()) {
    return std::move(rings).error();
  }
  rings_ = std::move(*rings);
  if (Status registered = register_handles(); !registered.ok()) {
    return registered;
  }
  Result<HandleSlot*> slot = register_handle(ObjectType::device, this);
  if (!slot.ok()) {
    return std::move(slot).error();
  }
  handle_ = *slot;
  return {};
}

/// Of what the management interface tells about.
Status Device::register_handles() {
  for (unsigned ordinal = 0; ordinal < memory_count(); ++ordinal) {
    Result<HandleSlot*> slot = register_handle(ObjectType::sysman_memory, &heap(ordinal));
    if (!slot.ok()) {
      return std::move(slot).error();
    }
    sysman_memories_[ordinal] = *slot;
  }
  for (unsigned index = 0; index < error_set_count(); ++index) {
    Result<HandleSlot*> slot = register_handle(ObjectType::sysman_errors, &error_sets_[index]);
    if (!slot.ok()) {
      return std::move(slot).error();
    }
    sysman_errors_[index] = *slot;
  }
  if (counts_busy_time(*board_)) {
    Result<HandleSlot*> slot = register_handle(ObjectType::sysman_engines, board_.get());
    if (!slot.ok()) {
      return std::move(slot).error();
    }
    sysman_engines_ = *slot;
  }
  return {};
}

/// All of the board's memory, so that the driver's own ring can reach any page. Nothing in it ever changes.
Status Device::build_driver_space() {
  Result<std::unique_ptr<AddressSpace>> space = AddressSpace::create_driver_space(*board_, *dram_);
  if (!space.ok()) {
    return std::move(space).error();
  }
  driver_space_ = std::move(*space);
  PageTarget target;
  if (Status mapped = driver_space_->map(DeviceVa{0}, target, dram_->total_bytes(), PageRights{});
      !mapped.ok()) {
    return mapped;
  }
  if (onchip_ != nullptr) {
    target.device.ordinal = 1;
    if (Status mapped = driver_space_->map(DeviceVa{driver_space_onchip_base}, target, onchip_->total_bytes(),
                                           PageRights{});
        !mapped.ok()) {
      return mapped;
    }
  }
  return driver_space_->commit();
}

Device::~Device() {
  unregister_handle(handle_);
  for (HandleSlot* slot : sysman_memories_) {
    unregister_handle(slot);
  }
  for (HandleSlot* slot : sysman_errors_) {
    unregister_handle(slot);
  }
  unregister_handle(sysman_engines_);
  rings_.reset();
  driver_space_.reset();
  arena_.reset();
  if (dma_ != nullptr) {
    driver_.host_pool().forget_board(*dma_);
  }
}

DeviceHeap& Device::heap(unsigned ordinal) noexcept { return ordinal == 0 ? *dram_ : *onchip_; }

unsigned Device::queue_count() const noexcept {
  return std::min(board_->capabilities().ring_count - 1, most_queues);
}

std::uint64_t Device::max_allocation_bytes() noexcept {
  return std::max(dram_->usable_bytes(), onchip_ != nullptr ? onchip_->usable_bytes() : 0);
}

bool Device::can_access(Device& other) noexcept {
  const board::FunctionLimits& exporter = other.board().function().limits();
  const board::FunctionLimits& importer = board_->function().limits();
  return this == &other || (exporter.can_export.memfd && exporter.exports_end && importer.can_import.memfd);
}

Status Device::reset(bool force) {
  const ScopedLock no_new_context(reset_mutex_);
  {
    const ScopedLock lock(spaces_mutex_);
    if (!force && !spaces_.empty()) {
      return make_error(ErrorCode::handle_object_in_use, "contexts that have the device are alive",
                        "destroy them first, or reset by force: they are lost then");
    }
  }
  if (Status reset = rings_->reset_board(); !reset.ok()) {
    return reset;
  }
  for (unsigned ordinal = 0; ordinal < memory_count(); ++ordinal) {
    heap(ordinal).forget_contents();
  }
  driver_space_.reset();
  Status built = build_driver_space();
  if (!built.ok()) {
    board_->declare_lost(built.error().message);
    return built;
  }
  rings_->driver_space_is_back();
  return {};
}

void Device::add_space(AddressSpace& space, PageBooks& books) {
  const ScopedLock lock(spaces_mutex_);
  spaces_.push_back({&space, &books});
}

void Device::remove_space(AddressSpace& space) noexcept {
  const ScopedLock lock(spaces_mutex_);
  std::erase_if(spaces_, [&](const Space& entry) { return entry.space == &space; });
}

Status Device::drain_quarantine() {
  const ScopedLock lock(spaces_mutex_);
  Status first;
  for (const Space& entry : spaces_) {
    if (Status committed = entry.space->commit(); !committed.ok() && first.ok()) {
      first = std::move(committed);
    }
    entry.books->give_back();
  }
  return first;
}

void Device::give_back_idle() {
  const ScopedLock lock(spaces_mutex_);
  for (const Space& entry : spaces_) {
    entry.books->give_back();
  }
}

bool Device::exports(ExternalType type) {
  const board::FunctionLimits& limits = board_->function().limits();
  return limits.can_export.memfd && (limits.exportable_memories & 1U) != 0 &&
         limits.shareable_between_processes && imports(type);
}

/// A dma-buf that a machine makes itself is one that it can be tried with.
bool Device::imports(ExternalType type) {
  const board::DescriptorKinds& kinds = board_->function().limits().can_import;
  return type == ExternalType::opaque ? kinds.memfd : kinds.dma_buf && driver_.dma_bufs().work();
}

}  // namespace datum
