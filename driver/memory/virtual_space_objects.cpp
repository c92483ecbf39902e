// Physical memory objects of a virtual space, and the questions about it.
#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

#include "driver/memory/device_heap.hpp"
#include "driver/memory/imported_memory.hpp"
#include "driver/memory/rollback.hpp"
#include "driver/memory/virtual_space.hpp"

namespace datum {

Error VirtualSpace::unknown_object() {
  return make_error(ErrorCode::invalid_argument, "the physical memory belongs to another context");
}

AddressSpace& VirtualSpace::space_of(const Device& device) const {
  for (const BoardSpace& board : boards_) {
    if (board.device == &device) {
      return *board.space;
    }
  }
  return *boards_.front().space;
}

const VirtualSpace::BoardSpace* VirtualSpace::board_of(const Device& device) const noexcept {
  const auto found = std::find_if(boards_.begin(), boards_.end(),
                                  [&](const BoardSpace& board) { return board.device == &device; });
  return found != boards_.end() ? &*found : nullptr;
}

/// Under change_mutex_ or mutex_.
bool VirtualSpace::sees(const BoardSpace& board, const PhysicalMemory& object) const {
  if (object.device() == nullptr || object.device() == board.device) {
    return true;
  }
  if (object.imported()) {
    return object.backing().imported()->is_seen_by(*board.map);
  }
  const auto found = objects_.find(&object);
  return found != objects_.end() &&
         std::any_of(found->second.peers.begin(), found->second.peers.end(),
                     [&](const Peer& peer) { return peer.device == board.device; });
}

/// The linear parts of a mapping as a board sees them, in order. Under change_mutex_.
void VirtualSpace::visit_parts(const BoardSpace& board, const VirtualPiece& piece,
                               const PhysicalMemory::Visit& visit) const {
  if (piece.object->has_own_pages() && piece.object->device() != board.device) {
    for (const Peer& peer : objects_.at(piece.object.get()).peers) {
      if (peer.device == board.device) {
        PageTarget target;
        target.host = true;
        target.iova = peer.iova + piece.offset;
        visit(target, piece.bytes);
      }
    }
    return;
  }
  piece.object->for_each_part(*board.map, piece.offset, piece.bytes, visit);
}

bool VirtualSpace::is_seen_by(const Device& device, const PhysicalMemory& object) const {
  const BoardSpace* board = board_of(device);
  const SharedScopedLock lock(mutex_);
  return board != nullptr && sees(*board, object);
}

std::vector<VirtualPiece> VirtualSpace::not_seen_by(const Device& device, Range range) const {
  std::vector<VirtualPiece> hidden;
  const BoardSpace* board = boards_.size() > 1 ? board_of(device) : nullptr;
  if (board == nullptr) {
    return hidden;  // there is no other device
  }
  const SharedScopedLock lock(mutex_);
  ranges_.visit(range, [&](const VirtualPiece& piece) {
    if (piece.object != nullptr && !sees(*board, *piece.object)) {
      hidden.push_back(piece);
    }
    return piece.object != nullptr;
  });
  return hidden;
}

Status VirtualSpace::show_to_peer(const PhysicalMemory& named, const Device& device, Iova iova) {
  const BoardSpace* board = board_of(device);
  const ScopedLock changing(change_mutex_);
  const auto found = objects_.find(&named);
  if (found == objects_.end() || board == nullptr) {
    return unknown_object();
  }
  std::vector<PageChange> changes;
  for (const Range& reservation : ranges_.reservations()) {
    ranges_.visit(reservation, [&](const VirtualPiece& piece) {
      if (piece.object.get() == &named && piece.access != PageAccess::none) {
        PageChange& change = changes.emplace_back();
        change.va = DeviceVa{piece.base};
        change.bytes = piece.bytes;
        change.is_mapped = true;
        change.target.host = true;
        change.target.iova = iova + piece.offset;
        change.rights.writable = piece.access == PageAccess::read_write;
      }
      return true;
    });
  }
  found->second.peers.reserve(found->second.peers.size() + 1);
  if (Result<bool> changed = board->space->change(changes); !changed.ok()) {
    return std::move(changed).error();
  }
  const ScopedLock lock(mutex_);
  found->second.peers.push_back({&device, iova});
  return {};
}

/// In the books first: a clearing that outlived the object would meet the next owner of the pages.
void VirtualSpace::add_object(const std::shared_ptr<PhysicalMemory>& memory) {
  std::vector<PageRun> foreign;
  if (memory->has_own_pages()) {
    foreign = memory->backing().heap().foreign_parts(memory->backing().runs(), place_.number);
  }
  Object object;
  object.has_foreign_pages = !foreign.empty();
  object.memory = memory;
  const ScopedLock changing(change_mutex_);
  const ScopedLock lock(mutex_);
  const auto entry = objects_.emplace(memory.get(), std::move(object)).first;
  Rollback undo([&]() noexcept { objects_.erase(entry); });
  if (!foreign.empty()) {
    space_of(*memory->device()).clear_before_use(DeviceVa{memory->backing().base()}, std::move(foreign));
  }
  undo.dismiss();
}

std::shared_ptr<PhysicalMemory> VirtualSpace::find_object(const PhysicalMemory* object) const {
  const SharedScopedLock lock(mutex_);
  const auto found = objects_.find(object);
  return found != objects_.end() ? found->second.memory : nullptr;
}

/// From here on the pages hold data of this context. Not so if they were never cleared: then nobody had them.
void VirtualSpace::say_owner(const Object& object) {
  if (!object.memory->has_own_pages()) {
    return;
  }
  MemoryBacking& backing = object.memory->backing();
  if (!space_of(*object.memory->device()).cancel_clear(DeviceVa{backing.base()})) {
    backing.heap().set_owner(backing.runs(), place_.number);
  }
}

Status VirtualSpace::remove_object(const PhysicalMemory& memory) {
  Object removed;
  const ScopedLock changing(change_mutex_);
  {
    const ScopedLock lock(mutex_);
    const auto found = objects_.find(&memory);
    if (found == objects_.end()) {
      return unknown_object();
    }
    if (found->second.mapped_bytes != 0) {
      return make_error(
          ErrorCode::handle_object_in_use,
          fmt::format("{} bytes of the physical memory are still mapped", found->second.mapped_bytes),
          "unmap them first");
    }
    removed = std::move(found->second);
    objects_.erase(found);
  }
  say_owner(removed);
  if (removed.has_foreign_pages) {
    // Another thread's commit may be clearing the pages at this moment.
    space_of(*removed.memory->device()).retire(removed.memory);
  }
  return {};
}

Result<VirtualSpace::AccessRun> VirtualSpace::access_of(Range range) const {
  const SharedScopedLock lock(mutex_);
  const std::optional<VirtualPiece> alike = ranges_.alike(range);
  if (!alike || !ranges_.visit(range, [](const VirtualPiece&) { return true; })) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} bytes at {:#x} are not all reserved virtual addresses of this context",
                                  range.bytes, range.base));
  }
  return AccessRun{alike->access, alike->bytes};
}

std::optional<VirtualPiece> VirtualSpace::mapping_at(std::uintptr_t address) const {
  const SharedScopedLock lock(mutex_);
  return ranges_.mapping_at(address);
}

std::vector<VirtualPiece> VirtualSpace::mapped_row(Range range) const {
  std::vector<VirtualPiece> row;
  const SharedScopedLock lock(mutex_);
  ranges_.visit(range, [&](const VirtualPiece& piece) {
    if (piece.object == nullptr) {
      return false;
    }
    VirtualPiece& cut = row.emplace_back(piece);
    const std::uintptr_t first = std::max(piece.base, range.base);
    cut.offset += first - piece.base;
    cut.base = first;
    cut.bytes = std::min(piece.end(), range.base + range.bytes) - first;
    return true;
  });
  return row;
}

std::optional<Allocation> VirtualSpace::find(std::uintptr_t address) const {
  const std::optional<VirtualPiece> mapping = mapping_at(address);
  if (!mapping) {
    return std::nullopt;
  }
  Allocation allocation;
  allocation.id = mapping->mapping;
  allocation.base = mapping->base;
  allocation.size_bytes = mapping->bytes;
  allocation.context = place_.owner;
  allocation.device = mapping->object->device();
  allocation.kind = allocation.device != nullptr ? AllocationKind::device : AllocationKind::host;
  allocation.application_mapped = true;
  return allocation;
}

Status VirtualSpace::check_usable(const Device& device, std::uintptr_t address, std::uint64_t bytes) const {
  const BoardSpace* const board = board_of(device);
  const SharedScopedLock lock(mutex_);
  Status wrong;
  std::uintptr_t end = address;
  ranges_.visit({address, bytes}, [&](const VirtualPiece& piece) {
    if (piece.object == nullptr) {
      return false;
    }
    if (board == nullptr || !sees(*board, *piece.object)) {
      wrong = make_error(ErrorCode::invalid_argument,
                         fmt::format("the memory mapped at {:#x} belongs to another device, which this one "
                                     "cannot access",
                                     piece.base));
      return false;
    }
    end = piece.end();
    return true;
  });
  if (wrong.ok() && (end < address + bytes || address + bytes < address)) {
    wrong = make_error(ErrorCode::invalid_argument,
                       fmt::format("{} bytes at {:#x} are virtual memory to which nothing is mapped at {:#x}",
                                   bytes, address, end));
  }
  return wrong;
}

}  // namespace datum
