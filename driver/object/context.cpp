#include "driver/object/context.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

#include "driver/command/counter.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/memory/address_window.hpp"
#include "driver/memory/device_heap.hpp"
#include "driver/memory/dma_map.hpp"
#include "driver/memory/pin_cache.hpp"
#include "driver/memory/virtual_space.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum {

Pin::Pin(Pin&& other) noexcept : cache_(std::exchange(other.cache_, nullptr)), token_(other.token_) {}

Pin& Pin::operator=(Pin&& other) noexcept {
  if (this != &other) {
    release();
    cache_ = std::exchange(other.cache_, nullptr);
    token_ = other.token_;
  }
  return *this;
}

Pin::~Pin() { release(); }

void Pin::release() noexcept {
  if (cache_ != nullptr) {
    std::exchange(cache_, nullptr)->unpin(token_);
  }
}

Context::Context(Driver& driver, std::vector<Device*> devices)
    : driver_(driver),
      id_(driver.next_context_id()),
      devices_(std::move(devices)),
      books_(driver.allocation_ids()),
      idle_counter_(std::make_unique<IdleCounter>()) {}

Result<std::unique_ptr<Context>> Context::create(Driver& driver, std::vector<Device*> devices) {
  std::unique_ptr<Context> context(new Context(driver, std::move(devices)));
  if (Status built = context->build(); !built.ok()) {
    return std::move(built).error();
  }
  return context;
}

Status Context::build() {
  spaces_.reserve(devices_.size());
  pins_.reserve(devices_.size());
  for (Device* device : devices_) {
    const SharedScopedLock no_reset(device->reset_mutex());
    board_lives_.push_back(device->board().life());
    Result<std::unique_ptr<AddressSpace>> space =
        AddressSpace::create(device->board(), device->heap(0), [device](std::span<const PageRun> runs) {
          return device->rings().clear_pages(runs);
        });
    if (!space.ok()) {
      return std::move(space).error();
    }
    pins_.push_back(std::make_unique<PinCache>(**space, device->dma()));
    books_.add_space(**space);
    device->add_space(**space, books_);
    spaces_.push_back(std::move(*space));
  }
  build_virtual_space();
  Result<HandleSlot*> slot = register_handle(ObjectType::context, this);
  if (!slot.ok()) {
    return std::move(slot).error();
  }
  handle_ = *slot;
  return {};
}

Context::~Context() {
  unregister_handle(handle_);
  end_virtual_space();
  BackingList freed;
  while (MemoryBacking* backing = books_.first()) {
    std::optional<Allocation> allocation = driver_.registry().erase(backing->base(), this);
    if (!allocation) {
      allocation = driver_.registry().erase(backing->base(), this, true);  // opened from an IPC handle
    }
    if (allocation) {
      end_sharing(*backing, *allocation);
      forget(*backing, *allocation, false);
    }
    if (backing->pinned()) {
      books_.remove(*backing);
    } else {
      freed.add(books_.remove(*backing));
    }
  }
  pins_.clear();
  for (std::size_t index = 0; index < spaces_.size(); ++index) {
    devices_[index]->remove_space(*spaces_[index]);
  }
  spaces_.clear();  // the board has forgotten the spaces from here on; then the memory goes
  while (MemoryBacking* backing = freed.first()) {
    freed.remove(*backing);
  }
}

std::size_t Context::index_of(const Device& device) const noexcept {
  return static_cast<std::size_t>(std::find(devices_.begin(), devices_.end(), &device) - devices_.begin());
}

bool Context::has(const Device& device) const noexcept { return index_of(device) != devices_.size(); }

std::uint64_t Context::board_life(const Device& device) const noexcept {
  return board_lives_[index_of(device)];
}

bool Context::outlived_by_board() const noexcept {
  for (std::size_t index = 0; index < devices_.size(); ++index) {
    if (devices_[index]->board().life() != board_lives_[index]) {
      return true;
    }
  }
  return false;
}

Status Context::health() {
  for (Device* device : devices_) {
    if (Status alive = device->board().health(); !alive.ok()) {
      return alive;
    }
  }
  return outlived_by_board() ? Status{lost_to_reset()} : Status{};
}

bool Context::is_lost() const noexcept {
  return std::any_of(devices_.begin(), devices_.end(),
                     [](Device* device) { return device->board().is_lost(); }) ||
         outlived_by_board();
}

Status Context::alive() {
  for (Device* device : devices_) {
    if (device->board().is_lost()) {
      if (Status health = device->board().health(); !health.ok()) {
        return health;
      }
    }
  }
  return outlived_by_board() ? Status{lost_to_reset()} : Status{};
}

Error Context::lost_to_reset() {
  return make_error(ErrorCode::device_lost, "the board was reset after the context had been made",
                    "destroy the context and create it anew");
}

AddressSpace& Context::space(const Device& device) noexcept { return *spaces_[index_of(device)]; }

std::optional<Allocation> Context::find(const void* pointer) const noexcept {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  std::optional<Allocation> allocation = driver_.registry().find(address);
  if (allocation && (allocation->context != this || !allocation->covers(address))) {
    allocation.reset();
  } else if (allocation && allocation->kind == AllocationKind::virtual_reservation) {
    allocation = virtual_space_->find(address);
  }
  return allocation;  // the one place: so it is made where the caller wants it
}

Context& Context::reaching(const Device& device, const void* pointer) noexcept {
  if (driver_.attitude() != Attitude::gpu) {
    return *this;
  }
  const std::optional<Allocation> known = driver_.registry().find(reinterpret_cast<std::uintptr_t>(pointer));
  return known && known->context->has(device) ? *known->context : *this;
}

Result<Pin> Context::make_accessible(Device& device, const void* pointer, std::uint64_t bytes,
                                     board::DmaAccess access) {
  if (bytes == 0) {
    return Pin{};
  }
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const std::optional<Allocation> known = driver_.registry().find(address);
  if (known && known->context != this) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("the memory at {:#x} belongs to another context", address));
  }
  const bool left = known && (!known->covers(address) || bytes > known->size_bytes - (address - known->base));
  // What begins in imported memory and goes on behind it is the application's own all the same.
  if (!known || (left && known->kind == AllocationKind::host_imported)) {
    if (driver_.window().overlaps(address, bytes)) {
      return make_error(
          ErrorCode::invalid_argument,
          fmt::format("{} bytes at {:#x} are no live allocation: it was freed, or never was one", bytes,
                      address));
    }
    PinCache& pins = *pins_[index_of(device)];
    if (!pins.serves_copies()) {
      Status usable = PinCache::check(pointer, bytes, access);
      return usable.ok() ? make_error(ErrorCode::out_of_host_memory,
                                      "ordinary memory is not pinned, because DATUM_PINNING is 'off'")
                         : std::move(usable).error();
    }
    Result<std::uint64_t> token = pins.pin(pointer, bytes, access);
    if (!token.ok()) {
      return std::move(token).error();
    }
    return Pin{&pins, *token};
  }
  if (known->kind == AllocationKind::virtual_reservation) {
    for (const VirtualPiece& piece : virtual_space_->not_seen_by(device, {address, bytes})) {
      const std::optional<Allocation> mapping = virtual_space_->find(piece.base);
      if (Status shown = mapping ? show_to_peer(device, *mapping) : Status{}; !shown.ok()) {
        return std::move(shown).error();
      }
    }
    Status usable = virtual_space_->check_usable(device, address, bytes);
    return usable.ok() ? Result<Pin>(Pin{}) : std::move(usable).error();
  }
  if (left) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} bytes at {:#x} leave the allocation of {} bytes at {:#x}", bytes,
                                  address, known->size_bytes, known->base));
  }
  if (known->kind == AllocationKind::device && known->device != &device) {
    if (Status shown = show_to_peer(device, *known); !shown.ok()) {
      return std::move(shown).error();
    }
  }
  return Pin{};
}

Status Context::map_block(Device& device, const HostBlock& block, PageRights rights) {
  if (!is_aligned(block.bytes | reinterpret_cast<std::uintptr_t>(block.host), small_page_bytes)) {
    return make_error(ErrorCode::invalid_argument,
                      "a block that is to appear in a space has to be made of whole pages");
  }
  PageTarget target;
  target.host = true;
  target.iova = block.iova;
  return space(device).map(device_va(block.host), target, block.bytes, rights);
}

Status Context::unmap_block(Device& device, const HostBlock& block) {
  return space(device).unmap_now(device_va(block.host), block.bytes);
}

}  // namespace datum
