// Virtual memory of one context: reservations, physical memory objects, and what is mapped where, for the
// boards and for the CPU.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <optional>
#include <vector>

#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>

#include "driver/memory/address_space.hpp"
#include "driver/memory/physical_memory.hpp"
#include "driver/memory/registry.hpp"
#include "driver/memory/reserved_addresses.hpp"
#include "driver/memory/spare_mappings.hpp"
#include "driver/memory/virtual_ranges.hpp"

namespace datum {

class DmaMap;

/// Thread safe. Addresses, sizes and offsets are multiples of 4 KiB where a range is meant. A call that fails
/// leaves everything as it was, save that a lost board is said to be lost after its mappings are gone.
///
/// Questions are answered while another thread's change waits for a board: that one holds only the lock of
/// changes.
class VirtualSpace {
 public:
  using Range = VirtualRanges::Range;

  /// Every size is served in pages of this size.
  static constexpr std::uint64_t page_bytes = small_page_bytes;

  struct BoardSpace {
    Device* device = nullptr;
    AddressSpace* space = nullptr;
    DmaMap* map = nullptr;
  };

  /// Where things are registered: `owner` is the context, `number` its number.
  struct Place {
    AddressWindow& window;
    Registry& registry;
    Context* owner = nullptr;
    std::uint32_t number = 0;
  };

  VirtualSpace(Place place, std::vector<BoardSpace> boards);
  /// The spaces are gone by then. Gives back addresses and objects.
  ~VirtualSpace() = default;
  VirtualSpace(const VirtualSpace&) = delete;
  VirtualSpace& operator=(const VirtualSpace&) = delete;

  /// An object that went with the context.
  struct Ended {
    HandleSlot* handle = nullptr;
    std::uint64_t id = 0;
  };

  /// Forgets all reservations and says whose data the objects' pages hold, while the spaces are still there.
  /// The objects, whose handles are stale from here on.
  std::vector<Ended> end();

  /// `id` never repeats in the process. out_of_host_memory.
  Result<std::uintptr_t> reserve(std::uintptr_t wanted, std::uint64_t bytes, std::uint64_t id);
  /// Unmaps what is still mapped. invalid_argument: not exactly a reservation.
  Status free(Range range);

  void add_object(const std::shared_ptr<PhysicalMemory>& memory);
  /// The object of this context that `object` points to; null: there is none. `object` is not followed.
  [[nodiscard]] std::shared_ptr<PhysicalMemory> find_object(const PhysicalMemory* object) const;
  /// handle_object_in_use: it is mapped. invalid_argument: no object of this context.
  Status remove_object(const PhysicalMemory& object);

  /// `mapping` never repeats in the process. invalid_argument: not inside one reservation, not inside the
  /// object, or something is mapped there. out_of_device_memory: no table page; out_of_host_memory.
  Status map(Range range, const PhysicalMemory& object, std::uint64_t offset, PageAccess access,
             std::uint64_t mapping);
  /// Returns when no board and no CPU can use the pages any longer. invalid_argument: not all of the range is
  /// mapped.
  Status unmap(Range range);
  /// Holds for boards and CPU alike when it returns. invalid_argument: not all of the range is reserved.
  Status set_access(Range range, PageAccess access);

  struct AccessRun {
    PageAccess access = PageAccess::none;
    std::uint64_t bytes = 0;  ///< from the range's first byte on, inside the range
  };

  /// invalid_argument: not all of the range is reserved.
  [[nodiscard]] Result<AccessRun> access_of(Range range) const;

  /// The mapping that `address` lies in; empty: nothing is mapped there. Its `object` is kept alive by the
  /// answer.
  [[nodiscard]] std::optional<VirtualPiece> mapping_at(std::uintptr_t address) const;
  /// What is mapped from `range.base` on, in order and cut to the range, up to the first page to which
  /// nothing is mapped.
  [[nodiscard]] std::vector<VirtualPiece> mapped_row(Range range) const;
  /// mapping_at in the words of the registry.
  [[nodiscard]] std::optional<Allocation> find(std::uintptr_t address) const;
  /// What is mapped in the range, in order, and is memory of another device that `device` does not see yet.
  [[nodiscard]] std::vector<VirtualPiece> not_seen_by(const Device& device, Range range) const;
  /// Whether commands of `device` find the object's pages where it is mapped: not those of another device's
  /// memory before show_to_peer.
  [[nodiscard]] bool is_seen_by(const Device& device, const PhysicalMemory& object) const;
  /// From here on the object, whose pages the board of `device` sees from `iova` on, is for that board too
  /// wherever it is mapped now and later. Once for each board. No board access. invalid_argument: no object
  /// of this context; out_of_device_memory.
  Status show_to_peer(const PhysicalMemory& object, const Device& device, Iova iova);
  /// Any range of bytes. invalid_argument: a part of it is not mapped, or `device` does not see it.
  [[nodiscard]] Status check_usable(const Device& device, std::uintptr_t address, std::uint64_t bytes) const;

 private:
  /// A board that sees pages of another's memory, and from where on.
  struct Peer {
    const Device* device = nullptr;
    Iova iova{};
  };

  struct Object {
    std::shared_ptr<PhysicalMemory> memory;
    std::vector<Peer> peers;
    std::uint64_t mapped_bytes = 0;
    bool has_foreign_pages = false;  ///< the board was asked to clear some of them
  };

  using Pieces = std::vector<VirtualPiece>;

  [[nodiscard]] static Error unknown_object();
  [[nodiscard]] AddressSpace& space_of(const Device& device) const;
  void say_owner(const Object& object);
  [[nodiscard]] Result<Pieces> empty_pieces(Range range) const DATUM_REQUIRES(change_mutex_);
  [[nodiscard]] Result<Pieces> mapped_pieces(Range range) const DATUM_REQUIRES(change_mutex_);
  void count_unmapped(const Pieces& pieces);
  [[nodiscard]] const BoardSpace* board_of(const Device& device) const noexcept;
  [[nodiscard]] bool sees(const BoardSpace& board, const PhysicalMemory& object) const;
  void visit_parts(const BoardSpace& board, const VirtualPiece& piece,
                   const PhysicalMemory::Visit& visit) const;
  [[nodiscard]] std::vector<PageChange> changes_for(const BoardSpace& board, const Pieces& from,
                                                    const Pieces& to) const;

  /// What each board has to change there, and for the way back.
  struct Changes {
    std::vector<std::vector<PageChange>> there;
    std::vector<std::vector<PageChange>> back;
  };

  [[nodiscard]] Changes list_changes(const Pieces& from, const Pieces& to) const
      DATUM_REQUIRES(change_mutex_);
  Result<bool> change_boards(const Changes& changes) DATUM_REQUIRES(change_mutex_);
  void undo_boards(const Changes& changes, std::size_t changed) noexcept DATUM_REQUIRES(change_mutex_);
  Status change_back(const Changes& changes, Status cause) noexcept DATUM_REQUIRES(change_mutex_);
  Status commit_boards() DATUM_REQUIRES(change_mutex_);
  using Held = std::vector<AddressSpace::Retirements>;  ///< by board
  [[nodiscard]] Held hold(const Pieces& pieces, const std::shared_ptr<void>& addresses) const
      DATUM_REQUIRES(change_mutex_);
  Status finish(bool seen, Held held) DATUM_REQUIRES(change_mutex_);
  void cut(Range range) DATUM_REQUIRES(change_mutex_);

  Place place_;
  std::vector<BoardSpace> boards_;
  SpareMappings spare_
      DATUM_GUARDED_BY(change_mutex_);  ///< under change_mutex_; kept from the first mapping for the CPU on
  Mutex change_mutex_;                  ///< before `mutex_`; held while boards work
  /// Of all below; who writes holds change_mutex_ too, so who holds either may read: clang cannot be told
  /// that. Never held while boards work.
  mutable SharedMutex mutex_;
  VirtualRanges ranges_;
  std::map<std::uintptr_t, std::shared_ptr<ReservedAddresses>> addresses_;  ///< by base
  std::map<const PhysicalMemory*, Object> objects_;
};

}  // namespace datum
