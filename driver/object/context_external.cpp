// Memory that goes out of a context and comes into it as a descriptor, and physical memory that is shared.
#include <algorithm>
#include <fcntl.h>
#include <new>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>
#include <datum/base/private_fd.hpp>

#include "driver/memory/dma_map.hpp"
#include "driver/memory/exported_memory.hpp"
#include "driver/memory/open_shared_file.hpp"
#include "driver/memory/physical_memory.hpp"
#include "driver/memory/rollback.hpp"
#include "driver/memory/virtual_space.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"
#include "driver/object/memory_users.hpp"
#include "driver/object/second_chance.hpp"

namespace datum {
namespace {

/// Host memory that is a file of its own from the start.
Result<std::unique_ptr<ExportedFile>> export_host_object(const PhysicalMemory& object) {
  UniqueFd file(duplicate_fd(object.host().file()));
  if (Status sealed = seal_shared_file(file.get()); !sealed.ok()) {
    return std::move(sealed).error();
  }
  Result<SharedFileIdentity> identity = identify_shared_file(file.get());
  if (!identity.ok()) {
    return std::move(identity).error();
  }
  return std::make_unique<ExportedFile>(std::move(file), *identity, object.bytes());
}

}  // namespace

std::uint64_t Context::granule_bytes() const noexcept {
  std::uint64_t granule = small_page_bytes;
  for (Device* device : devices_) {
    granule = std::max(granule, device->dma().granule_bytes());
  }
  return granule;
}

Result<void*> Context::import_external(Device* device, int fd, ExternalTypes types, std::uint64_t bytes,
                                       std::uint64_t alignment, PageRights rights) {
  Result<OpenedFile> file = open_external_file(
      fd, types, device != nullptr ? SharedKind::device : SharedKind::host, bytes, driver_.dma_bufs());
  if (!file.ok()) {
    return std::move(file).error();
  }
  Allocation allocation;
  allocation.kind = device != nullptr ? AllocationKind::device : AllocationKind::host;
  allocation.external = true;
  allocation.size_bytes = bytes;
  allocation.rights = rights;
  // Never more than the file has: what is behind its end must not be touched.
  const std::uint64_t mapped = std::min(file->identity.bytes, align_up(bytes, granule_bytes()));
  return with_second_chance(
      [&] {
        return map_shared_file(device != nullptr ? *device : *devices_.front(), file->fd.get(), mapped,
                               allocation, std::max(alignment, small_page_bytes));
      },
      [&] { drain_quarantines(); });
}

/// Memory that nobody was told of.
void Context::free_made(void* pointer) noexcept {
  try {
    static_cast<void>(free(pointer));
  } catch (const std::bad_alloc&) {
    // It goes with its context.
  }
}

Result<void*> Context::make_exportable(Result<void*> allocated, ExternalTypes types) {
  if (!allocated.ok()) {
    return allocated;
  }
  Rollback undo([&]() noexcept { free_made(*allocated); });
  const std::optional<Allocation> made = find(*allocated);
  Result<std::uint64_t> id =
      made ? share(*made)
           : make_error(ErrorCode::invalid_argument, "the memory was freed before it could be shared");
  Status offered = id.ok() ? driver_.exports().offer(*id, types, driver_.dma_bufs()) : Status(id.error());
  if (!offered.ok()) {
    return std::move(offered).error();
  }
  undo.dismiss();
  return allocated;
}

Result<PhysicalMemory*> Context::make_exportable(Result<PhysicalMemory*> created, ExternalTypes types) {
  if (!created.ok()) {
    return created;
  }
  Rollback undo([&]() noexcept {
    try {
      static_cast<void>(destroy_physical(**created));
    } catch (const std::bad_alloc&) {
      // It goes with its context.
    }
  });
  Result<std::uint64_t> id = share_object(**created);
  Status offered = id.ok() ? driver_.exports().offer(*id, types, driver_.dma_bufs()) : Status(id.error());
  if (!offered.ok()) {
    return std::move(offered).error();
  }
  undo.dismiss();
  return created;
}

Result<PhysicalMemory*> Context::import_physical(Device* device, int fd, ExternalTypes types,
                                                 std::uint64_t bytes) {
  Result<OpenedFile> file = open_external_file(
      fd, types, device != nullptr ? SharedKind::device : SharedKind::host, bytes, driver_.dma_bufs());
  if (!file.ok()) {
    return std::move(file).error();
  }
  const PhysicalMemory::Shape shape{bytes, driver_.next_allocation_id()};
  std::vector<DmaMap*> maps;
  for (Device* user : users_of(devices_, device)) {
    maps.push_back(&user->dma());
  }
  if (device != nullptr) {
    return register_object(
        PhysicalMemory::of_device_file(driver_.window(), *device, maps, file->fd.get(), shape));
  }
  return register_object(PhysicalMemory::of_host_file(driver_.window(), maps, std::move(file->fd), shape));
}

/// As share: the id under which the object is exported.
Result<std::uint64_t> Context::share_object(const PhysicalMemory& named) {
  const ScopedLock lock(sharing_mutex_);
  const std::shared_ptr<PhysicalMemory> object = virtual_space_->find_object(&named);
  if (object == nullptr) {
    return make_error(ErrorCode::invalid_argument, "the physical memory belongs to another context");
  }
  if (object->imported()) {
    return make_error(ErrorCode::invalid_argument,
                      "imported physical memory is shared by the process that made it");
  }
  if (driver_.exports().has(object->id())) {
    return object->id();
  }
  Device* const device = object->device();
  if (device != nullptr && !device->board().function().limits().shareable_between_processes) {
    return make_error(ErrorCode::unsupported_feature,
                      fmt::format("memory of the board {} cannot be shared with another process",
                                  device->board().function().info().address));
  }
  Result<std::unique_ptr<ExportedFile>> file =
      device != nullptr ? export_pages(object->backing(), *device, 0, object->bytes())
                        : export_host_object(*object);
  if (!file.ok()) {
    return std::move(file).error();
  }
  if (device != nullptr) {
    list_export(object->backing(), object->id(), std::move(*file));
  } else {
    driver_.exports().add(object->id(), std::move(*file));
  }
  return object->id();
}

Result<IpcHandleBytes> Context::export_object(const PhysicalMemory& object) {
  return handle_of(share_object(object));
}

/// The object that is mapped at `pointer`, the first byte of its mapping.
Result<IpcHandleBytes> Context::export_mapped(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const std::optional<VirtualPiece> mapping = virtual_space_->mapping_at(address);
  if (!mapping || mapping->base != address) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("no mapping of physical memory begins at {}", pointer));
  }
  return export_object(*mapping->object);
}

}  // namespace datum
