// Memory of a context moves into files that other processes get. It cannot move back, so what fails behind
// that point is gone on with by the next call.
#include <cerrno>
#include <fcntl.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/private_fd.hpp>

#include "driver/memory/control_group.hpp"
#include "driver/memory/dma_map.hpp"
#include "driver/memory/exported_memory.hpp"
#include "driver/memory/host_limits.hpp"
#include "driver/memory/moved_pages.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum {
namespace {

/// Host pages that moved into a shared file, and the addresses at which boards see the file.
class MovedHostPages final : public PagesElsewhere {
 public:
  /// The first `bytes` of `pages`.
  MovedHostPages(HostPool& pool, const HostPages& pages, std::uint64_t bytes) noexcept
      : pool_(pool), pages_(pages), bytes_(bytes), boards_before_(pool.board_count(pages)) {}

  MovedHostPages(const MovedHostPages&) = delete;
  MovedHostPages& operator=(const MovedHostPages&) = delete;

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

  /// As the `board`-th device of the context sees the file.
  [[nodiscard]] PageTarget target(std::size_t board) const noexcept {
    PageTarget target;
    target.host = true;
    target.iova = boards_[board].second;
    return target;
  }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

  /// Boards and CPU use the file and nothing else.
  [[nodiscard]] bool settled() const noexcept { return settled_; }

  void settle() noexcept {
    moved_->take_over_late_writes();
    settled_ = true;
  }

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
  bool settled_ = false;
};

/// What the file that the pages are in is listed as.
Result<std::unique_ptr<ExportedFile>> file_of(const PagesElsewhere& pages, std::uint64_t size_bytes) {
  UniqueFd file(duplicate_fd(pages.file().get()));
  if (!file.valid()) {
    return no_host_memory("no descriptor to be had for memory that is exported", errno);
  }
  Result<SharedFileIdentity> identity = identify_shared_file(file.get());
  if (!identity.ok()) {
    return std::move(identity).error();
  }
  return std::make_unique<ExportedFile>(std::move(file), *identity, size_bytes);
}

}  // namespace

/// What the pages kept of their file, in case that this fails, is let go.
void Context::list_export(MemoryBacking& backing, std::uint64_t id, std::unique_ptr<ExportedFile> file) {
  driver_.exports().add(id, std::move(file));
  if (backing.elsewhere() != nullptr) {
    backing.elsewhere()->keep_file({});
  }
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
  if (backing.elsewhere() == nullptr) {
    if (Status moved = move_device(backing, device, ordinal); !moved.ok()) {
      return std::move(moved).error();
    }
  }
  return file_of(*backing.elsewhere(), size_bytes);
}

/// Device pages become those of a file. From then on there is no way back: the file stays with the pages.
Status Context::move_device(MemoryBacking& backing, Device& device, std::uint32_t ordinal) {
  board::PcieFunction& function = device.board().function();
  const board::FunctionLimits& limits = function.limits();
  if (!limits.can_export.memfd || (limits.exportable_memories >> ordinal & 1U) == 0) {
    return make_error(
        ErrorCode::unsupported_feature,
        fmt::format("memory {} of the board {} cannot be shared", ordinal, function.info().address));
  }
  // Pages that hold another context's data are cleared first: the importer must not see it either.
  if (Status committed = space(device).commit(); !committed.ok()) {
    return committed;
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
  shared->keep_file(std::move(*file));
  backing.move_elsewhere(std::move(shared));
  return {};
}

Result<std::unique_ptr<ExportedFile>> Context::export_host(MemoryBacking& backing,
                                                           const Allocation& allocation) {
  Result<std::unique_ptr<ExportedFile>> exported = export_host_pages(backing, allocation);
  if (exported.ok()) {
    (*exported)->set_rights(allocation.rights);
    (*exported)->clear_tail();
  }
  return exported;
}

Result<std::unique_ptr<ExportedFile>> Context::export_host_pages(MemoryBacking& backing,
                                                                 const Allocation& allocation) {
  UniqueFd own = backing.elsewhere() == nullptr ? driver_.host_pool().take_file(backing.pages()) : UniqueFd{};
  if (own.valid()) {
    if (Status sealed = seal_shared_file(own.get()); !sealed.ok()) {
      return std::move(sealed).error();
    }
    Result<SharedFileIdentity> identity = identify_shared_file(own.get());
    return identity.ok()
               ? Result(std::make_unique<ExportedFile>(std::move(own), *identity, allocation.size_bytes))
               : std::move(identity).error();
  }
  if (backing.elsewhere() == nullptr) {
    if (Status moved = move_host(backing, allocation); !moved.ok()) {
      return std::move(moved).error();
    }
  }
  if (Status settled = settle_host(backing, allocation); !settled.ok()) {
    return std::move(settled).error();
  }
  return file_of(*backing.elsewhere(), allocation.size_bytes);
}

/// Moves host pages into a file of their own. All that can fail comes first; from the moment that the pages
/// have moved there is no way back: the file stays with the pages.
Status Context::move_host(MemoryBacking& backing, const Allocation& allocation) {
  Result<IpcToken> token = make_ipc_token();
  if (!token.ok()) {
    return std::move(token).error();
  }
  const std::uint64_t bytes = allocation.span_bytes();
  if (const Result<bool> room = control_groups().admit(bytes); !room.ok()) {
    return room.error();
  }
  Result<UniqueFd> file = make_shared_file(SharedKind::host, *token, bytes);
  if (!file.ok()) {
    return std::move(file).error();
  }
  auto moved = std::make_unique<MovedHostPages>(driver_.host_pool(), backing.pages(), bytes);
  for (std::size_t index = 0; index < devices_.size(); ++index) {
    if (Status mapped = moved->map_for(devices_[index]->dma(), file->get()); !mapped.ok()) {
      return mapped;
    }
    if (Status room = spaces_[index]->make_room_to_replace(DeviceVa{allocation.base}, moved->target(index),
                                                           bytes, allocation.rights);
        !room.ok()) {
      return room;
    }
  }
  if (Status done = moved->move(file->get()); !done.ok()) {
    return done;
  }
  moved->keep_file(std::move(*file));
  backing.move_elsewhere(std::move(moved));
  return {};
}

/// The boards are told where the pages are. Where that fails they are to be told again.
Status Context::settle_host(MemoryBacking& backing, const Allocation& allocation) {
  auto& moved = static_cast<MovedHostPages&>(*backing.elsewhere());  // the backing is in host memory
  if (moved.settled()) {
    return {};
  }
  Status first;
  for (std::size_t index = 0; index < devices_.size(); ++index) {
    Status replaced = spaces_[index]->replace(DeviceVa{allocation.base}, moved.target(index), moved.bytes(),
                                              allocation.rights);
    if (!replaced.ok() && first.ok()) {
      first = std::move(replaced);
    }
  }
  if (first.ok()) {
    moved.settle();
  }
  return first;
}

}  // namespace datum
