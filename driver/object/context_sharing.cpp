// Allocations of a context that other processes share, and memory of other processes in a context.
#include <utility>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

#include "driver/memory/dma_map.hpp"
#include "driver/memory/exported_memory.hpp"
#include "driver/memory/imported_memory.hpp"
#include "driver/memory/physical_memory.hpp"
#include "driver/memory/rollback.hpp"
#include "driver/memory/virtual_space.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum {
namespace {

Error no_base(const void* pointer, std::string_view why) {
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("the memory at {} cannot be shared: {}", pointer, why));
}

Error of_another_device(std::uintptr_t address) {
  return make_error(
      ErrorCode::unsupported_feature,
      fmt::format("the memory at {:#x} belongs to another device, and there is no way to it from this one",
                  address),
      "zeDeviceCanAccessPeer tells; copy through host memory");
}

/// An object that is exported becomes visible to the board of `user`, wherever it is mapped.
Status show_object(VirtualSpace& space, PhysicalMemory& object, Device& user, ExportTable& exports) {
  if (space.is_seen_by(user, object)) {
    return {};  // another thread was faster
  }
  Result<UniqueFd> file = exports.duplicate(object.id());
  if (!file.ok()) {
    return std::move(file).error();
  }
  auto& pages = static_cast<DeviceExport&>(*object.backing().elsewhere());  // the backing is on a device
  Result<Iova> iova = pages.add_peer(user.dma(), file->get());
  if (!iova.ok()) {
    return std::move(iova).error();
  }
  Rollback undo([&]() noexcept { pages.remove_peer(user.dma()); });
  if (Status shown = space.show_to_peer(object, user, *iova); !shown.ok()) {
    return shown;
  }
  undo.dismiss();
  return {};
}

Status check_shareable(const Allocation& allocation) {
  if (allocation.kind != AllocationKind::device ||
      allocation.device->board().function().limits().shareable_between_processes) {
    return {};
  }
  return make_error(ErrorCode::unsupported_feature,
                    fmt::format("memory of the board {} cannot be shared with another process",
                                allocation.device->board().function().info().address));
}

}  // namespace

/// The export of an allocation that was just erased from the registry ends. An export that is under way is
/// waited for: it saw the allocation alive.
void Context::end_sharing(MemoryBacking& backing, const Allocation& allocation) noexcept {
  if (backing.shared_at_end()) {
    const ScopedLock lock(sharing_mutex_);
    driver_.exports().remove(allocation.id);
  }
}

/// Under sharing_mutex_. `allocation` was found before; what it occupies lives until the mutex is given back.
Result<std::shared_ptr<MemoryBacking>> Context::take_for_sharing(const Allocation& allocation) {
  const auto* const pointer = reinterpret_cast<const void*>(allocation.base);
  const auto is_live = [&] {
    const std::optional<Allocation> known = find(pointer);
    return known && known->id == allocation.id;
  };
  std::shared_ptr<MemoryBacking> backing;
  {
    // Who frees the allocation erases it first and takes its backing out under this lock afterwards.
    const ScopedLock lock(books_);
    if (!is_live()) {
      return no_base(pointer, "it was freed");
    }
    backing = allocation.backing->shared_from_this();
  }
  backing->mark_shared();
  if (!is_live()) {
    return no_base(pointer, "it was freed");
  }
  return backing;
}

Result<IpcHandleBytes> Context::export_allocation(const void* pointer) {
  const std::optional<Allocation> known = find(pointer);
  if (!known) {
    return no_base(pointer, "it is no live allocation of this context");
  }
  if (known->base != reinterpret_cast<std::uintptr_t>(pointer)) {
    return no_base(pointer, fmt::format("only the first byte of an allocation can, here {:#x}", known->base));
  }
  if (known->application_mapped) {
    return export_mapped(pointer);
  }
  if (known->imported || known->external ||
      (known->kind != AllocationKind::device && known->kind != AllocationKind::host)) {
    return no_base(pointer, "only device and host allocations of this process can");
  }
  if (std::optional<IpcHandleBytes> handle = driver_.exports().get(known->id)) {
    return *handle;
  }
  return handle_of(share(*known));
}

/// The next handle of what was shared.
Result<IpcHandleBytes> Context::handle_of(const Result<std::uint64_t>& id) {
  if (!id.ok()) {
    return id.error();
  }
  if (std::optional<IpcHandleBytes> handle = driver_.exports().get(*id)) {
    return *handle;
  }
  return make_error(ErrorCode::invalid_argument, "the memory was freed while it was shared");
}

/// The id under which the allocation is exported, from now on if it was not.
Result<std::uint64_t> Context::share(const Allocation& allocation) {
  const ScopedLock lock(sharing_mutex_);
  Result<std::shared_ptr<MemoryBacking>> backing = take_for_sharing(allocation);
  if (!backing.ok()) {
    return std::move(backing).error();
  }
  if (driver_.exports().has(allocation.id)) {
    return allocation.id;  // another thread was faster
  }
  if (Status shareable = check_shareable(allocation); !shareable.ok()) {
    return std::move(shareable).error();
  }
  Result<std::unique_ptr<ExportedFile>> file = allocation.kind == AllocationKind::device
                                                   ? export_device(**backing, allocation)
                                                   : export_host(**backing, allocation);
  if (!file.ok()) {
    return std::move(file).error();
  }
  list_export(**backing, allocation.id, std::move(*file));
  return allocation.id;
}

/// Device memory of one board for commands of another, at its own address: exported by the one, mapped by the
/// other. It stays so until it is freed; a physical memory object that is mapped there, until it is
/// destroyed.
Status Context::show_to_peer(Device& user, const Allocation& allocation) {
  if (allocation.imported || allocation.external) {
    // Who may use memory behind a descriptor has seen it from the start.
    const ScopedLock lock(books_);
    const std::optional<Allocation> still = find(reinterpret_cast<const void*>(allocation.base));
    if (!still || still->id != allocation.id) {
      return no_base(reinterpret_cast<const void*>(allocation.base), "it was freed");
    }
    return still->backing->imported()->is_seen_by(user.dma()) ? Status{} : of_another_device(allocation.base);
  }
  if (!user.can_access(*allocation.device)) {
    return of_another_device(allocation.base);
  }
  if (allocation.application_mapped) {
    const std::optional<VirtualPiece> mapping = virtual_space_->mapping_at(allocation.base);
    const Result<std::uint64_t> id =
        mapping ? share_object(*mapping->object) : of_another_device(allocation.base);
    const ScopedLock lock(sharing_mutex_);
    return id.ok() ? show_object(*virtual_space_, *mapping->object, user, driver_.exports())
                   : Status(id.error());
  }
  const ScopedLock lock(sharing_mutex_);
  Result<std::shared_ptr<MemoryBacking>> backing = take_for_sharing(allocation);
  if (!backing.ok()) {
    return std::move(backing).error();
  }
  if (!driver_.exports().has(allocation.id)) {
    Result<std::unique_ptr<ExportedFile>> file = export_device(**backing, allocation);
    if (!file.ok()) {
      return std::move(file).error();
    }
    list_export(**backing, allocation.id, std::move(*file));
  }
  auto& pages = static_cast<DeviceExport&>(*(*backing)->elsewhere());  // the backing is on a device
  if (pages.has_peer(user.dma())) {
    return {};
  }
  Result<UniqueFd> file = driver_.exports().duplicate(allocation.id);
  if (!file.ok()) {
    return std::move(file).error();
  }
  Result<Iova> iova = pages.add_peer(user.dma(), file->get());
  if (!iova.ok()) {
    return std::move(iova).error();
  }
  PageTarget target;
  target.host = true;
  target.iova = *iova;
  Rollback undo([&]() noexcept { pages.remove_peer(user.dma()); });
  if (Status mapped =
          space(user).map(DeviceVa{allocation.base}, target, allocation.span_bytes(), allocation.rights);
      !mapped.ok()) {
    return mapped;
  }
  undo.dismiss();
  return {};
}

}  // namespace datum
