#include "driver/memory/virtual_space.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

#include "driver/memory/cpu_mapping.hpp"
#include "driver/memory/device_heap.hpp"
#include "driver/memory/rollback.hpp"

namespace datum {
namespace {

using Pieces = std::vector<VirtualPiece>;

Error not_reserved(VirtualSpace::Range range) {
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("{} bytes at {:#x} are not all reserved virtual addresses of this context",
                                range.bytes, range.base));
}

bool reachable(const VirtualPiece& piece) noexcept {
  return piece.object != nullptr && piece.access != PageAccess::none;
}

bool in_host(const VirtualPiece& piece) noexcept {
  return piece.object != nullptr && piece.object->device() == nullptr;
}

/// The same ranges with nothing mapped.
Pieces emptied(Pieces pieces) {
  for (VirtualPiece& piece : pieces) {
    piece.object.reset();
    piece.access = PageAccess::none;
  }
  return pieces;
}

/// For the CPU; all or nothing.
Status protect(const Pieces& pieces, PageAccess access) {
  for (std::size_t index = 0; index < pieces.size(); ++index) {
    if (!in_host(pieces[index])) {
      continue;
    }
    Status changed = protect_for_cpu(pieces[index].base, pieces[index].bytes, access);
    if (!changed.ok()) {
      for (std::size_t back = 0; back <= index; ++back) {
        if (in_host(pieces[back])) {
          static_cast<void>(protect_for_cpu(pieces[back].base, pieces[back].bytes, pieces[back].access));
        }
      }
      return changed;
    }
  }
  return {};
}

}  // namespace

/// What the tables of a board have to change for what is in `from` to become what is in `to`: the same
/// ranges. Under change_mutex_.
std::vector<PageChange> VirtualSpace::changes_for(const BoardSpace& board, const Pieces& from,
                                                  const Pieces& to) const {
  std::vector<PageChange> changes;
  for (std::size_t index = 0; index < from.size(); ++index) {
    PageChange change;
    change.was_mapped = reachable(from[index]);
    change.is_mapped = reachable(to[index]);
    const VirtualPiece& piece = change.is_mapped ? to[index] : from[index];
    if ((!change.was_mapped && !change.is_mapped) ||
        (change.was_mapped && change.is_mapped && from[index].access == to[index].access) ||
        !sees(board, *piece.object)) {
      continue;
    }
    change.va = DeviceVa{piece.base};
    change.rights.writable = piece.access == PageAccess::read_write;
    visit_parts(board, piece, [&](const PageTarget& target, std::uint64_t bytes) {
      change.target = target;
      change.bytes = bytes;
      changes.push_back(change);
      change.va = change.va + bytes;
    });
  }
  return changes;
}

VirtualSpace::VirtualSpace(Place place, std::vector<BoardSpace> boards)
    : place_(place), boards_(std::move(boards)) {}

std::vector<VirtualSpace::Ended> VirtualSpace::end() {
  std::vector<Ended> ended;
  const ScopedLock changing(change_mutex_);
  const ScopedLock lock(mutex_);
  for (const Range& range : ranges_.reservations()) {
    place_.registry.erase_reservation(range.base, place_.owner);
  }
  for (auto& [memory, object] : objects_) {
    say_owner(object);
    ended.push_back({object.memory->handle(), object.memory->id()});
  }
  return ended;
}

Result<std::uintptr_t> VirtualSpace::reserve(std::uintptr_t wanted, std::uint64_t bytes, std::uint64_t id) {
  Result<std::shared_ptr<ReservedAddresses>> reserved =
      ReservedAddresses::reserve(place_.window, wanted, bytes);
  if (!reserved.ok()) {
    return std::move(reserved).error();
  }
  Allocation allocation;
  allocation.id = id;
  allocation.base = (*reserved)->base();
  allocation.size_bytes = bytes;
  allocation.context = place_.owner;
  allocation.kind = AllocationKind::virtual_reservation;
  const ScopedLock changing(change_mutex_);
  const ScopedLock lock(mutex_);
  const auto entry = addresses_.emplace(allocation.base, std::move(*reserved)).first;
  Rollback undo([&]() noexcept {
    ranges_.remove_reservation(allocation.base);
    addresses_.erase(entry);
  });
  ranges_.add_reservation({allocation.base, bytes});
  if (Status inserted = place_.registry.insert(allocation); !inserted.ok()) {
    return std::move(inserted).error();
  }
  undo.dismiss();
  return allocation.base;
}

Status VirtualSpace::free(Range range) {
  const ScopedLock changing(change_mutex_);
  const MappingRoom room(spare_);
  const std::optional<Range> reservation = ranges_.reservation_at(range.base);
  if (!reservation || reservation->base != range.base || reservation->bytes != range.bytes) {
    return reservation
               ? make_error(
                     ErrorCode::invalid_argument,
                     fmt::format("{} bytes at {:#x} are not the whole reservation, which is {} bytes at "
                                 "{:#x}",
                                 range.bytes, range.base, reservation->bytes, reservation->base))
               : not_reserved(range);
  }
  const Pieces pieces = ranges_.pieces_of(range);
  Held held = hold(pieces, addresses_.at(range.base));
  Result<bool> seen = change_boards(list_changes(pieces, emptied(pieces)));
  if (!seen.ok()) {
    return std::move(seen).error();
  }
  std::shared_ptr<ReservedAddresses> addresses;
  {
    const ScopedLock lock(mutex_);
    place_.registry.erase_reservation(range.base, place_.owner);
    ranges_.remove_reservation(range.base);
    addresses = std::move(addresses_.extract(range.base).mapped());
    count_unmapped(pieces);
  }
  for (const BoardSpace& board : boards_) {
    if (range.bytes >= large_page_bytes) {
      board.space->forget_tables(DeviceVa{range.base}, range.bytes);
    }
  }
  return finish(*seen, std::move(held));
}

VirtualSpace::Changes VirtualSpace::list_changes(const Pieces& from, const Pieces& to) const {
  Changes changes;
  for (const BoardSpace& board : boards_) {
    changes.there.push_back(changes_for(board, from, to));
    changes.back.push_back(changes_for(board, to, from));
  }
  return changes;
}

/// All boards or none. Whether a board may have seen what was there before.
Result<bool> VirtualSpace::change_boards(const Changes& changes) {
  bool seen = false;
  std::size_t index = 0;
  Rollback undo([&]() noexcept {
    change_mutex_.assert_held();
    undo_boards(changes, index);
  });
  for (; index < boards_.size(); ++index) {
    Result<bool> changed = boards_[index].space->change(changes.there[index]);
    if (!changed.ok()) {
      return changed;
    }
    seen = seen || *changed;
  }
  undo.dismiss();
  return seen;
}

/// The first `changed` boards get back what they had: the tables that it takes are still there.
void VirtualSpace::undo_boards(const Changes& changes, std::size_t changed) noexcept {
  while (changed-- > 0) {
    try {
      static_cast<void>(boards_[changed].space->change(changes.back[changed]));
    } catch (const std::bad_alloc&) {
      continue;  // it has less than it had, and nothing that is not there
    }
  }
}

/// The boards get back what they had, because the CPU's side failed. Where there is no heap to tell them with
/// they are told before their next command.
Status VirtualSpace::change_back(const Changes& changes, Status cause) noexcept {
  undo_boards(changes, boards_.size());
  try {
    static_cast<void>(commit_boards());
  } catch (const std::bad_alloc&) {
    return cause;
  }
  return cause;
}

Status VirtualSpace::commit_boards() {
  Status first;
  for (const BoardSpace& board : boards_) {
    if (Status committed = board.space->commit(); !committed.ok() && first.ok()) {
      first = std::move(committed);
    }
  }
  return first;
}

/// What boards may go on to use once it is gone: made before anything is changed, since afterwards there is
/// no way back.
VirtualSpace::Held VirtualSpace::hold(const Pieces& pieces, const std::shared_ptr<void>& addresses) const {
  Held held(boards_.size());
  for (AddressSpace::Retirements& by_board : held) {
    for (const VirtualPiece& piece : pieces) {
      if (piece.object != nullptr) {
        by_board.push_back(piece.object);
      }
    }
    by_board.push_back(addresses);
  }
  return held;
}

/// What boards may have `seen` is gone for them when it returns. Where they do not say so, what is `held`
/// goes to nobody else until they do. That there is no heap to tell them with is no failure: they are told
/// before their next command.
Status VirtualSpace::finish(bool seen, Held held) {
  if (!seen) {
    return {};
  }
  Status committed;
  bool told = false;
  try {
    committed = commit_boards();
    told = committed.ok();
  } catch (const std::bad_alloc&) {
    told = false;
  }
  for (std::size_t index = 0; !told && index < boards_.size(); ++index) {
    boards_[index].space->retire(std::move(held[index]));
  }
  return committed;
}

Result<VirtualSpace::Pieces> VirtualSpace::empty_pieces(Range range) const {
  const std::optional<Range> reservation = ranges_.reservation_at(range.base);
  if (!reservation || range.bytes > reservation->bytes - (range.base - reservation->base)) {
    return reservation
               ? make_error(ErrorCode::invalid_argument,
                            fmt::format("{} bytes at {:#x} leave the reservation of {} bytes at {:#x}",
                                        range.bytes, range.base, reservation->bytes, reservation->base))
               : not_reserved(range);
  }
  Pieces pieces = ranges_.pieces_of(range);
  for (const VirtualPiece& piece : pieces) {
    if (piece.object != nullptr) {
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("{} bytes at {:#x} are mapped already", piece.bytes, piece.base),
                        "unmap them first");
    }
  }
  return pieces;
}

Status VirtualSpace::map(Range range, const PhysicalMemory& named, std::uint64_t offset, PageAccess access,
                         std::uint64_t mapping) {
  const ScopedLock changing(change_mutex_);
  const auto found = objects_.find(&named);
  if (found == objects_.end()) {
    return unknown_object();
  }
  Object& object = found->second;
  if (offset > object.memory->bytes() || range.bytes > object.memory->bytes() - offset) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} bytes at offset {} leave the physical memory of {} bytes", range.bytes,
                                  offset, object.memory->bytes()));
  }
  Result<Pieces> empty = empty_pieces(range);
  if (!empty.ok()) {
    return std::move(empty).error();
  }
  Pieces before{empty->front()};
  before.front().bytes = range.bytes;
  Pieces after = before;
  after.front().object = object.memory;
  after.front().offset = offset;
  after.front().access = access;
  const Changes changes = list_changes(before, after);
  const bool host = object.memory->device() == nullptr;
  cut(range);  // from here on the books take no memory
  if (host && !spare_.keep()) {
    return no_more_mappings(range.base, range.bytes);
  }
  Rollback undo([&]() noexcept {
    if (host) {
      static_cast<void>(AddressWindow::release_pages(range.base, range.bytes));
    }
  });
  if (host) {
    if (Status mapped = map_for_cpu(range.base, range.bytes, *object.memory, offset, access); !mapped.ok()) {
      return mapped;
    }
  }
  if (Result<bool> changed = change_boards(changes); !changed.ok()) {
    return std::move(changed).error();
  }
  undo.dismiss();
  const ScopedLock lock(mutex_);
  ranges_.map(range, object.memory, offset, mapping, access);
  object.mapped_bytes += range.bytes;
  return {};
}

Result<VirtualSpace::Pieces> VirtualSpace::mapped_pieces(Range range) const {
  Pieces pieces = ranges_.pieces_of(range);
  if (pieces.empty()) {
    return not_reserved(range);
  }
  for (const VirtualPiece& piece : pieces) {
    if (piece.object == nullptr) {
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("nothing is mapped in {} bytes at {:#x}", piece.bytes, piece.base));
    }
  }
  return pieces;
}

Status VirtualSpace::unmap(Range range) {
  const ScopedLock changing(change_mutex_);
  const MappingRoom room(spare_);
  Result<Pieces> pieces = mapped_pieces(range);
  if (!pieces.ok()) {
    return std::move(pieces).error();
  }
  const Changes changes = list_changes(*pieces, emptied(*pieces));
  Held held = hold(*pieces, nullptr);
  cut(range);
  Result<bool> seen = change_boards(changes);
  if (!seen.ok()) {
    return std::move(seen).error();
  }
  if (std::any_of(pieces->begin(), pieces->end(), in_host)) {
    if (Status released = AddressWindow::release_pages(range.base, range.bytes); !released.ok()) {
      return change_back(changes, std::move(released));
    }
  }
  {
    const ScopedLock lock(mutex_);
    ranges_.unmap(range);
    count_unmapped(*pieces);
  }
  return finish(*seen, std::move(held));
}

/// Before a change of what is mapped: once boards and CPU have it, the book has to follow.
void VirtualSpace::cut(Range range) {
  const ScopedLock lock(mutex_);
  ranges_.cut(range);
}

void VirtualSpace::count_unmapped(const Pieces& pieces) {
  for (const VirtualPiece& piece : pieces) {
    if (piece.object != nullptr) {
      objects_.at(piece.object.get()).mapped_bytes -= piece.bytes;
    }
  }
}

Status VirtualSpace::set_access(Range range, PageAccess access) {
  const ScopedLock changing(change_mutex_);
  const Pieces pieces = ranges_.pieces_of(range);
  if (pieces.empty()) {
    return not_reserved(range);
  }
  Pieces after = pieces;
  for (VirtualPiece& piece : after) {
    piece.access = access;
  }
  const Changes changes = list_changes(pieces, after);
  cut(range);
  Result<bool> seen = change_boards(changes);
  if (!seen.ok()) {
    return std::move(seen).error();
  }
  if (Status changed = protect(pieces, access); !changed.ok()) {
    return change_back(changes, std::move(changed));
  }
  {
    const ScopedLock lock(mutex_);
    ranges_.set_access(range, access);
  }
  return finish(*seen, Held(boards_.size()));
}

}  // namespace datum
