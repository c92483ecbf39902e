// Virtual and physical memory of a context.
#include <vector>

#include <datum/base/mutex.hpp>

#include "driver/memory/device_heap.hpp"
#include "driver/memory/dma_map.hpp"
#include "driver/memory/exported_memory.hpp"
#include "driver/memory/rollback.hpp"
#include "driver/memory/virtual_space.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"
#include "driver/object/second_chance.hpp"

namespace datum {
namespace {

VirtualSpace::Range range_of(const void* pointer, std::uint64_t bytes) noexcept {
  return {reinterpret_cast<std::uintptr_t>(pointer), bytes};
}

}  // namespace

void Context::build_virtual_space() {
  std::vector<VirtualSpace::BoardSpace> boards;
  for (std::size_t index = 0; index < devices_.size(); ++index) {
    boards.push_back({devices_[index], spaces_[index].get(), &devices_[index]->dma()});
  }
  virtual_space_ = std::make_unique<VirtualSpace>(
      VirtualSpace::Place{driver_.window(), driver_.registry(), this, id_}, std::move(boards));
}

void Context::end_virtual_space() {
  if (virtual_space_ == nullptr) {
    return;
  }
  driver_.exports().remove_ranges(this);
  for (const VirtualSpace::Ended& ended : virtual_space_->end()) {
    unregister_handle(ended.handle);
    driver_.exports().remove(ended.id);
  }
}

/// Of all devices: what is locked or idle for another one counts against the same limits of the process.
void Context::drain_quarantines() {
  for (const std::unique_ptr<Device>& device : driver_.devices()) {
    static_cast<void>(device->drain_quarantine());
  }
}

Result<void*> Context::reserve_virtual(const void* wanted, std::uint64_t bytes) {
  Result<std::uintptr_t> base =
      virtual_space_->reserve(reinterpret_cast<std::uintptr_t>(wanted), bytes, driver_.next_allocation_id());
  if (!base.ok()) {
    return std::move(base).error();
  }
  return reinterpret_cast<void*>(*base);
}

Result<PhysicalMemory*> Context::create_physical(Device* device, std::uint64_t bytes) {
  const PhysicalMemory::Shape shape{bytes, driver_.next_allocation_id()};
  std::vector<DmaMap*> maps;
  for (Device* each : devices_) {
    maps.push_back(&each->dma());
  }
  Result<std::shared_ptr<PhysicalMemory>> object = with_second_chance(
      [&] {
        return device != nullptr
                   ? PhysicalMemory::on_device(driver_.window(), *device, device->heap(0), shape)
                   : PhysicalMemory::in_host(driver_.window(), maps, shape);
      },
      [&] { drain_quarantines(); });
  return register_object(std::move(object));
}

Result<PhysicalMemory*> Context::register_object(Result<std::shared_ptr<PhysicalMemory>> object) {
  if (!object.ok()) {
    return std::move(object).error();
  }
  PhysicalMemory* const memory = object->get();
  Result<HandleSlot*> handle = register_handle(ObjectType::physical_memory, memory);
  if (!handle.ok()) {
    return std::move(handle).error();
  }
  Rollback undo([&]() noexcept { unregister_handle(*handle); });
  memory->set_handle(*handle);
  virtual_space_->add_object(*object);
  undo.dismiss();
  return memory;
}

Status Context::destroy_physical(const PhysicalMemory& object) {
  const std::shared_ptr<PhysicalMemory> kept = virtual_space_->find_object(&object);
  if (Status removed = virtual_space_->remove_object(object); !removed.ok()) {
    return removed;
  }
  unregister_handle(kept->handle());
  // An export that is under way saw the object alive, and is waited for.
  const ScopedLock lock(sharing_mutex_);
  driver_.exports().remove(kept->id());
  return {};
}

Status Context::map_virtual(void* pointer, std::uint64_t bytes, const PhysicalMemory& object,
                            std::uint64_t offset, PageAccess access) {
  const std::uint64_t mapping = driver_.next_allocation_id();
  return with_second_chance(
      [&] { return virtual_space_->map(range_of(pointer, bytes), object, offset, access, mapping); },
      [&] { drain_quarantines(); });
}

Status Context::unmap_virtual(void* pointer, std::uint64_t bytes) {
  return with_second_chance([&] { return virtual_space_->unmap(range_of(pointer, bytes)); },
                            [&] { drain_quarantines(); });
}

Status Context::set_virtual_access(void* pointer, std::uint64_t bytes, PageAccess access) {
  return with_second_chance([&] { return virtual_space_->set_access(range_of(pointer, bytes), access); },
                            [&] { drain_quarantines(); });
}

}  // namespace datum
