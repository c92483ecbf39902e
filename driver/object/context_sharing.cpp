// Allocations of a context that other processes share, and memory of other processes in a context.
#include <utility>

#include <fmt/format.h>

#include "driver/memory/control_group.hpp"
#include "driver/memory/dma_map.hpp"
#include "driver/memory/exported_memory.hpp"
#include "driver/memory/imported_memory.hpp"
#include "driver/memory/moved_pages.hpp"
#include "driver/memory/physical_memory.hpp"
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
  Status shown = space.show_to_peer(object, user, *iova);
  if (!shown.ok()) {
    pages.remove_peer(user.dma());
  }
  return shown;
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

/// Host pages that moved into a shared file, and the addresses at which boards see the file.
class MovedHostPages final : public PagesElsewhere {
 public:
  /// The first `bytes` of `pages`.
  MovedHostPages(HostPool& pool, const HostPages& pages, std::uint64_t bytes) noexcept
      : pool_(pool), pages_(pages), bytes_(bytes), boards_before_(pool.board_count(pages)) {}

  ~MovedHostPages() override { unmap(); }

  Status map_for(DmaMap& dma, int file) {
    boards_.reserve(boards_.size() + 1);
    Result<Iova> iova = dma.map_descriptor(file, bytes_, board::DmaAccess::read_write);
    if (!iova.ok()) {
      return std::move(iova).error();
    }
    boards_.emplace_back(&dma, *iova);
    return {};
  }

  Status move(int file) {
    Result<std::unique_ptr<MovedPages>> moved = MovedPages::move({pages_.host, bytes_}, file);
    if (!moved.ok()) {
      return std::move(moved).error();
    }
    moved_ = std::move(*moved);
    return {};
  }

  [[nodiscard]] MovedPages& pages() noexcept { return *moved_; }

  [[nodiscard]] Iova iova(std::size_t board) const noexcept { return boards_[board].second; }

  bool end() noexcept override {
    unmap();
    // A board that got to see the piece meanwhile may have pinned the file's pages, and would go on to use
    // them.
    const bool same_boards = pool_.board_count(pages_) == boards_before_;
    return moved_->restore() && same_boards;
  }

 private:
  void unmap() noexcept {
    for (const auto& [dma, iova] : boards_) {
      dma->unmap(iova, bytes_);
    }
    boards_.clear();
  }

  HostPool& pool_;
  HostPages pages_;
  std::uint64_t bytes_;
  std::size_t boards_before_;
  std::vector<std::pair<DmaMap*, Iova>> boards_;  ///< as the context's devices
  std::unique_ptr<MovedPages> moved_;
};

}  // namespace

/// The export of an allocation that was just erased from the registry ends. An export that is under way is
/// waited for: it saw the allocation alive.
void Context::end_sharing(MemoryBacking& backing, const Allocation& allocation) noexcept {
  if (backing.shared_at_end()) {
    const std::scoped_lock lock(sharing_mutex_);
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
    const std::scoped_lock lock(books_);
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
  const std::scoped_lock lock(sharing_mutex_);
  Result<std::shared_ptr<MemoryBacking>> backing = take_for_sharing(allocation);
  if (!backing.ok()) {
    return std::move(backing).error();
  }
  if (driver_.exports().has(allocation.id)) {
    return allocation.id;  // another thread was faster
  }
  if ((*backing)->elsewhere() != nullptr) {
    return make_error(ErrorCode::out_of_host_memory, "an earlier export of the allocation failed half way",
                      "free the allocation and make another");
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
  driver_.exports().add(allocation.id, std::move(*file));
  return allocation.id;
}

/// Device memory of one board for commands of another, at its own address: exported by the one, mapped by the
/// other. It stays so until it is freed; a physical memory object that is mapped there, until it is
/// destroyed.
Status Context::show_to_peer(Device& user, const Allocation& allocation) {
  if (allocation.imported || allocation.external) {
    // Who may use memory behind a descriptor has seen it from the start.
    const std::scoped_lock lock(books_);
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
    const std::scoped_lock lock(sharing_mutex_);
    return id.ok() ? show_object(*virtual_space_, *mapping->object, user, driver_.exports())
                   : Status(id.error());
  }
  const std::scoped_lock lock(sharing_mutex_);
  Result<std::shared_ptr<MemoryBacking>> backing = take_for_sharing(allocation);
  if (!backing.ok()) {
    return std::move(backing).error();
  }
  if ((*backing)->elsewhere() == nullptr) {
    Result<std::unique_ptr<ExportedFile>> file = export_device(**backing, allocation);
    if (!file.ok()) {
      return std::move(file).error();
    }
    driver_.exports().add(allocation.id, std::move(*file));
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
  Status mapped =
      space(user).map(DeviceVa{allocation.base}, target, allocation.span_bytes(), allocation.rights);
  if (!mapped.ok()) {
    pages.remove_peer(user.dma());
  }
  return mapped;
}

Result<std::unique_ptr<ExportedFile>> Context::export_device(MemoryBacking& backing,
                                                             const Allocation& allocation) {
  Result<std::unique_ptr<ExportedFile>> file =
      export_pages(backing, *allocation.device, allocation.ordinal, allocation.size_bytes);
  if (file.ok()) {
    (*file)->set_rights(allocation.rights);
    (*file)->clear_tail();
  }
  return file;
}

Result<std::unique_ptr<ExportedFile>> Context::export_pages(MemoryBacking& backing, Device& device,
                                                            std::uint32_t ordinal, std::uint64_t size_bytes) {
  board::PcieFunction& function = device.board().function();
  const board::FunctionLimits& limits = function.limits();
  if (!limits.can_export.memfd || (limits.exportable_memories >> ordinal & 1U) == 0) {
    return make_error(
        ErrorCode::unsupported_feature,
        fmt::format("memory {} of the board {} cannot be shared", ordinal, function.info().address));
  }
  // Pages that hold another context's data are cleared first: the importer must not see it either.
  if (Status committed = space(device).commit(); !committed.ok()) {
    return std::move(committed).error();
  }
  Result<IpcToken> token = make_ipc_token();
  if (!token.ok()) {
    return std::move(token).error();
  }
  auto shared = std::make_unique<DeviceExport>(function, backing.runs());
  Result<UniqueFd> file =
      function.export_memory(backing.runs(), shared_file_label(SharedKind::device, *token));
  if (!file.ok()) {
    return std::move(file).error();
  }
  backing.move_elsewhere(std::move(shared));
  Result<SharedFileIdentity> identity = identify_shared_file(file->get());
  if (!identity.ok()) {
    return std::move(identity).error();
  }
  return std::make_unique<ExportedFile>(std::move(*file), *identity, size_bytes);
}

Result<std::unique_ptr<ExportedFile>> Context::export_host(MemoryBacking& backing,
                                                           const Allocation& allocation) {
  UniqueFd file = driver_.host_pool().take_file(backing.pages());
  if (!file.valid()) {
    Result<UniqueFd> moved = move_host(backing, allocation);
    if (!moved.ok()) {
      return std::move(moved).error();
    }
    file = std::move(*moved);
  } else if (Status sealed = seal_shared_file(file.get()); !sealed.ok()) {
    return std::move(sealed).error();
  }
  Result<SharedFileIdentity> identity = identify_shared_file(file.get());
  if (!identity.ok()) {
    return std::move(identity).error();
  }
  auto exported = std::make_unique<ExportedFile>(std::move(file), *identity, allocation.size_bytes);
  exported->set_rights(allocation.rights);
  exported->clear_tail();
  return exported;
}

/// Moves host pages into a file of their own. What can fail comes first; from the moment that the pages have
/// moved there is no way back, and none is needed.
Result<UniqueFd> Context::move_host(MemoryBacking& backing, const Allocation& allocation) {
  Result<IpcToken> token = make_ipc_token();
  if (!token.ok()) {
    return std::move(token).error();
  }
  if (const Result<bool> room = control_groups().admit(allocation.span_bytes()); !room.ok()) {
    return room.error();
  }
  Result<UniqueFd> file = make_shared_file(SharedKind::host, *token, allocation.span_bytes());
  if (!file.ok()) {
    return file;
  }
  auto moved =
      std::make_unique<MovedHostPages>(driver_.host_pool(), backing.pages(), allocation.span_bytes());
  for (Device* device : devices_) {
    if (Status mapped = moved->map_for(device->dma(), file->get()); !mapped.ok()) {
      return std::move(mapped).error();
    }
  }
  if (Status done = moved->move(file->get()); !done.ok()) {
    return std::move(done).error();
  }
  Status first;
  for (std::size_t index = 0; index < devices_.size(); ++index) {
    PageTarget target;
    target.host = true;
    target.iova = moved->iova(index);
    Status replaced = spaces_[index]->replace(DeviceVa{allocation.base}, target, allocation.span_bytes(),
                                              allocation.rights);
    if (!replaced.ok() && first.ok()) {
      first = std::move(replaced);
    }
  }
  moved->pages().take_over_late_writes();
  backing.move_elsewhere(std::move(moved));
  if (!first.ok()) {
    return std::move(first).error();
  }
  return file;
}

}  // namespace datum
