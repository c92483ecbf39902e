#include "driver/memory/virtual_space.hpp"

#include <algorithm>
#include <new>
#include <utility>

#include <fmt/format.h>

#include "driver/memory/cpu_mapping.hpp"
#include "driver/memory/device_heap.hpp"

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
  const std::scoped_lock lock(change_mutex_, mutex_);
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
  const std::scoped_lock lock(change_mutex_, mutex_);
  const auto entry = addresses_.emplace(allocation.base, std::move(*reserved)).first;
  ranges_.add_reservation({allocation.base, bytes});
  if (Status inserted = place_.registry.insert(allocation); !inserted.ok()) {
    ranges_.remove_reservation(allocation.base);
    addresses_.erase(entry);
    return std::move(inserted).error();
  }
  return allocation.base;
}

Status VirtualSpace::free(Range range) {
  const std::scoped_lock changing(change_mutex_);
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
  make_room_to_keep(pieces);
  Result<bool> seen = change_boards(pieces, emptied(pieces));
  if (!seen.ok()) {
    return std::move(seen).error();
  }
  std::shared_ptr<ReservedAddresses> addresses;
  {
    const std::scoped_lock lock(mutex_);
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
  return finish(*seen, pieces, std::move(addresses));
}

/// All boards or none. Whether a board may have seen what was there before.
Result<bool> VirtualSpace::change_boards(const Pieces& from, const Pieces& to) {
  std::vector<std::vector<PageChange>> there;
  std::vector<std::vector<PageChange>> back;
  for (const BoardSpace& board : boards_) {
    there.push_back(changes_for(board, from, to));
    back.push_back(changes_for(board, to, from));
  }
  const auto undo = [&](std::size_t changed) {
    while (changed-- > 0) {
      static_cast<void>(boards_[changed].space->change(back[changed]));
    }
  };
  bool seen = false;
  for (std::size_t index = 0; index < boards_.size(); ++index) {
    try {
      Result<bool> changed = boards_[index].space->change(there[index]);
      if (!changed.ok()) {
        undo(index);
        return changed;
      }
      seen = seen || *changed;
    } catch (const std::bad_alloc&) {
      undo(index);
      throw;
    }
  }
  return seen;
}

/// The boards get back what they had, because the CPU's side failed.
Status VirtualSpace::change_back(const Pieces& from, const Pieces& to, Status cause) {
  // The tables that it takes are still there.
  if (Result<bool> changed = change_boards(to, from); changed.ok() && *changed) {
    static_cast<void>(commit_boards());
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

/// Room for what finish may have to keep: before anything is changed, since afterwards there is no way back.
void VirtualSpace::make_room_to_keep(const Pieces& pieces) {
  kept_.reserve(kept_.size() + pieces.size() + 1);
}

/// What boards may have `seen` is gone for them when it returns. Where they do not say so, the pages and
/// `addresses` that they may still use go to nobody else. That there is no heap to tell them with is no
/// failure: they are told before their next command.
Status VirtualSpace::finish(bool seen, const Pieces& gone, std::shared_ptr<void> addresses) {
  Status committed;
  bool told = false;
  try {
    committed = seen ? commit_boards() : Status{};
    told = committed.ok();
  } catch (const std::bad_alloc&) {
    told = false;
  }
  if (told && seen) {
    kept_.clear();
  } else if (!told) {
    for (const VirtualPiece& piece : gone) {
      if (piece.object != nullptr) {
        kept_.push_back(piece.object);
      }
    }
    kept_.push_back(std::move(addresses));
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
  const std::scoped_lock changing(change_mutex_);
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
  const bool host = object.memory->device() == nullptr;
  cut(range);
  if (host) {
    if (!spare_.keep()) {
      return no_more_mappings(range.base, range.bytes);
    }
    if (Status mapped = map_for_cpu(range.base, range.bytes, *object.memory, offset, access); !mapped.ok()) {
      return mapped;
    }
  }
  if (Result<bool> changed = change_boards(before, after); !changed.ok()) {
    if (host) {
      static_cast<void>(AddressWindow::release_pages(range.base, range.bytes));
    }
    return std::move(changed).error();
  }
  const std::scoped_lock lock(mutex_);
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
  const std::scoped_lock changing(change_mutex_);
  const MappingRoom room(spare_);
  Result<Pieces> pieces = mapped_pieces(range);
  if (!pieces.ok()) {
    return std::move(pieces).error();
  }
  const Pieces after = emptied(*pieces);
  make_room_to_keep(*pieces);
  cut(range);
  Result<bool> seen = change_boards(*pieces, after);
  if (!seen.ok()) {
    return std::move(seen).error();
  }
  if (std::any_of(pieces->begin(), pieces->end(), in_host)) {
    if (Status released = AddressWindow::release_pages(range.base, range.bytes); !released.ok()) {
      return change_back(*pieces, after, std::move(released));
    }
  }
  {
    const std::scoped_lock lock(mutex_);
    ranges_.unmap(range);
    count_unmapped(*pieces);
  }
  return finish(*seen, *pieces);
}

/// Before a change of what is mapped: once boards and CPU have it, the book has to follow.
void VirtualSpace::cut(Range range) {
  const std::scoped_lock lock(mutex_);
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
  const std::scoped_lock changing(change_mutex_);
  const Pieces pieces = ranges_.pieces_of(range);
  if (pieces.empty()) {
    return not_reserved(range);
  }
  Pieces after = pieces;
  for (VirtualPiece& piece : after) {
    piece.access = access;
  }
  make_room_to_keep({});
  cut(range);
  Result<bool> seen = change_boards(pieces, after);
  if (!seen.ok()) {
    return std::move(seen).error();
  }
  if (Status changed = protect(pieces, access); !changed.ok()) {
    return change_back(pieces, after, std::move(changed));
  }
  {
    const std::scoped_lock lock(mutex_);
    ranges_.set_access(range, access);
  }
  return finish(*seen, {});
}

}  // namespace datum
