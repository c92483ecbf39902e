// Mapped physical memory objects of a context that other processes get with one handle, and such memory of
// other processes.
#include <algorithm>
#include <optional>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include "driver/memory/exported_memory.hpp"
#include "driver/memory/imported_memory.hpp"
#include "driver/memory/open_shared_file.hpp"
#include "driver/memory/shared_range.hpp"
#include "driver/memory/virtual_space.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"
#include "driver/object/memory_users.hpp"
#include "driver/object/second_chance.hpp"

namespace datum {
namespace {

Error not_mapped(std::uintptr_t base, std::uint64_t bytes, std::uintptr_t hole) {
  return make_error(ErrorCode::address_not_found,
                    fmt::format("{} bytes at {:#x} are not all mapped to physical memory: nothing is mapped "
                                "at {:#x} in this context",
                                bytes, base, hole));
}

/// The file that a part names, if the broker has it and it is what the list says.
Result<OpenedFile> open_part(const SharedPart& part, const BrokerAddress& broker) {
  return open_shared_file({-1, IpcHints{part.file, part.file.bytes, broker}});
}

bool all_in_host(const SharedRange& range) noexcept {
  for (std::uint64_t index = 0; index < range.part_count(); ++index) {
    if (range.part(index).file.kind != SharedKind::host) {
      return false;
    }
  }
  return true;
}

/// Shows the parts of a range, one after the other, to the boards of `users` and, if in host memory, to the
/// CPU.
Status show_parts(ImportedMemory& memory, const SharedRange& range, std::span<Device* const> users) {
  std::optional<OpenedFile> file;
  std::uint64_t at = 0;
  for (std::uint64_t index = 0; index < range.part_count(); ++index) {
    const SharedPart part = range.part(index);
    if (!file || file->identity != part.file) {
      Result<OpenedFile> opened = open_part(part, range.broker());
      if (!opened.ok()) {
        return std::move(opened).error();
      }
      file = std::move(*opened);
    }
    const ImportedMemory::Part place{at, part.offset, part.bytes};
    for (Device* user : users) {
      if (Status shown = memory.show(user->dma(), file->fd.get(), place); !shown.ok()) {
        return shown;
      }
    }
    if (part.file.kind == SharedKind::host) {
      if (Status shown = memory.show_cpu(file->fd.get(), place); !shown.ok()) {
        return shown;
      }
    }
    at += part.bytes;
  }
  return {};
}

}  // namespace

Result<IpcHandleBytes> Context::export_range(const void* pointer, std::uint64_t bytes) {
  const auto base = reinterpret_cast<std::uintptr_t>(pointer);
  if (bytes == 0) {
    return make_error(ErrorCode::invalid_size, "a range of no bytes has no handle");
  }
  const std::uintptr_t first_page = align_down(base, small_page_bytes);
  const std::uint64_t span = align_up(bytes + (base - first_page), small_page_bytes);
  if (span < bytes || first_page + span < first_page) {
    return not_mapped(base, bytes, base);
  }
  const std::vector<VirtualPiece> pieces = virtual_space_->mapped_row({first_page, span});
  const std::uintptr_t end = pieces.empty() ? first_page : pieces.back().end();
  if (end != first_page + span) {
    const std::optional<Allocation> other = driver_.registry().find(end);
    return other && other->kind != AllocationKind::virtual_reservation
               ? make_error(
                     ErrorCode::invalid_argument,
                     fmt::format("a range is of mapped physical memory, and at {:#x} is an allocation", end))
               : not_mapped(base, bytes, end);
  }
  std::vector<ExportTable::RangePart> parts;
  for (const VirtualPiece& piece : pieces) {
    Result<std::uint64_t> id = share_object(*piece.object);
    if (!id.ok()) {
      return std::move(id).error();
    }
    std::shared_ptr<ExportedFile> file = driver_.exports().hold(*id);
    if (file == nullptr) {
      return make_error(ErrorCode::invalid_argument, "the memory was unmapped while it was shared");
    }
    parts.push_back({std::move(file), piece.offset, piece.bytes});
  }
  return driver_.exports().add_range(this, bytes, std::move(parts), base - first_page);
}

Result<void*> Context::import_range(Device& device, const OpenedFile& file, PageRights rights) {
  return with_second_chance([&] { return map_range(device, file, rights); }, [&] { drain_quarantines(); });
}

Result<void*> Context::map_range(Device& device, const OpenedFile& file, PageRights rights) {
  Result<SharedRange> range = SharedRange::read(file.fd.get(), file.identity);
  if (!range.ok()) {
    return std::move(range).error();
  }
  Result<std::unique_ptr<ImportedMemory>> memory =
      ImportedMemory::reserve(driver_.window(), range->span_bytes());
  if (!memory.ok()) {
    return std::move(memory).error();
  }
  (*memory)->begin_at(range->first_byte());
  // As for one object: a range that has both kinds of memory is for those that device memory is for.
  const bool host = all_in_host(*range);
  const std::vector<Device*> users = users_of(devices_, host ? nullptr : &device);
  if (Status shown = show_parts(**memory, *range, users); !shown.ok()) {
    return std::move(shown).error();
  }
  Allocation allocation;
  allocation.kind = host ? AllocationKind::host : AllocationKind::device;
  allocation.device = host ? nullptr : &device;
  allocation.imported = true;
  allocation.size_bytes = range->size_bytes();
  allocation.rights = rights;
  return map_parts(std::move(*memory), users, allocation);
}

}  // namespace datum
