// Shared files that become memory of a context.
#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include "driver/memory/dma_map.hpp"
#include "driver/memory/imported_memory.hpp"
#include "driver/memory/rollback.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"
#include "driver/object/memory_users.hpp"
#include "driver/object/second_chance.hpp"

namespace datum {

/// What the board of `device` sees of `memory`, up to the allocation's last page.
Status Context::map_imported(Device& device, const Allocation& allocation, const ImportedMemory& memory) {
  AddressSpace& pages = space(device);
  return memory.for_each_part(device.dma(), [&](std::uint64_t at, std::uint64_t bytes, Iova iova) {
    PageTarget target;
    target.host = true;
    target.iova = iova;
    return pages.map(DeviceVa{allocation.first_page()} + at, target,
                     std::min(bytes, allocation.span_bytes() - at), allocation.rights);
  });
}

Result<void*> Context::import_file(Device& device, int fd, const SharedFileIdentity& file,
                                   std::uint64_t size_bytes, PageRights rights) {
  Allocation allocation;
  allocation.kind = file.kind == SharedKind::device ? AllocationKind::device : AllocationKind::host;
  allocation.imported = true;
  allocation.size_bytes = size_bytes;
  allocation.rights = rights;
  return with_second_chance(
      [&] { return map_shared_file(device, fd, file.bytes, allocation, small_page_bytes); },
      [&] { drain_quarantines(); });
}

/// `bytes` of a file, and an allocation that shows them. Of `allocation` kind, size and flags count.
Result<void*> Context::map_shared_file(Device& device, int fd, std::uint64_t bytes, Allocation allocation,
                                       std::uint64_t alignment) {
  const bool host = allocation.kind == AllocationKind::host;
  const std::vector<Device*> users = users_of(devices_, host ? nullptr : &device);
  Result<std::unique_ptr<ImportedMemory>> memory =
      ImportedMemory::map(driver_.window(), fd, bytes, host, alignment);
  if (!memory.ok()) {
    return std::move(memory).error();
  }
  // Words need no sharing of memory by the board itself: they are host memory for each process.
  const Result<SharedFileIdentity> identity = identify_shared_file(fd);
  const bool words = identity.ok() && holds_words(identity->kind);
  for (Device* user : users) {
    Status mapped = words ? (*memory)->map_host_for(user->dma(), fd) : (*memory)->map_for(user->dma(), fd);
    if (!mapped.ok()) {
      return std::move(mapped).error();
    }
  }
  allocation.device = host ? nullptr : &device;
  return map_parts(std::move(*memory), users, allocation);
}

/// The boards of `users` see `memory`: an allocation that shows it. Kind, device, size and flags are set.
Result<void*> Context::map_parts(std::unique_ptr<ImportedMemory> memory, std::span<Device* const> users,
                                 Allocation allocation) {
  allocation.base = memory->base();
  const ImportedMemory& seen = *memory;
  std::shared_ptr<MemoryBacking> backing = MemoryBacking::take_imported(std::move(memory));
  backing->make_room_to_retire(devices_.size());
  Rollback undo([&]() noexcept { forget(*backing, allocation, true); });
  for (Device* user : users) {
    if (Status mapped = map_imported(*user, allocation, seen); !mapped.ok()) {
      return std::move(mapped).error();
    }
  }
  undo.dismiss();
  return publish(std::move(backing), allocation, allocation.size_bytes);
}

Status Context::close_imported(const void* pointer) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  const std::optional<Allocation> allocation = driver_.registry().erase(address, this, true);
  if (!allocation) {
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("{:#x} is not the first byte of memory that was opened from an IPC handle in "
                    "this context",
                    address));
  }
  MemoryBacking& backing = *allocation->backing;
  if (forget(backing, *allocation, true)) {
    // The memory is not ours: it is let go now and not at the next command. A board that is gone cannot reach
    // it either.
    ask_boards();
  }
  unlist(backing);
  return {};
}

}  // namespace datum
