// One address space of one board: the page tables of a context on a device.
#pragma once

#include <cstdint>
#include <functional>
#include <list>
#include <memory>
#include <span>
#include <vector>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>

#include "driver/memory/page_rights.hpp"
#include "driver/memory/page_run.hpp"

namespace datum {

class Board;
class DeviceHeap;
class PageBooks;

struct PageTarget {
  bool host = false;  ///< true: `iova`, false: `device`
  Iova iova{};
  DeviceAddress device{};
};

/// What a range of pages is to become.
struct PageChange {
  DeviceVa va{};
  std::uint64_t bytes = 0;
  bool was_mapped = false;
  bool is_mapped = false;
  PageTarget target;  ///< if is_mapped
  PageRights rights;
};

/// Tables are kept in host memory (the shadow) and in the fixed aperture's part of device memory. Changes are
/// collected and brought to the board by commit(). Thread safe; commit and what calls it may wait for the
/// board and must not be called with a lock that clearing pages or giving memory back takes.
class AddressSpace {
 public:
  /// Places for what is retired, made beforehand.
  using Retirements = std::list<std::shared_ptr<void>>;

  /// Clears device memory and returns when that is done (RingScheduler::clear_pages).
  using Clear = std::function<Status(std::span<const PageRun>)>;

  /// A space of a context; `heap` (ordinal 0) gives the table pages. `board` and `heap` outlive it.
  /// out_of_device_memory: no space number, or no table page.
  static Result<std::unique_ptr<AddressSpace>> create(Board& board, DeviceHeap& heap, Clear clear);
  /// The driver's own space, number 0.
  static Result<std::unique_ptr<AddressSpace>> create_driver_space(Board& board, DeviceHeap& heap);
  /// Clears the root, invalidates, returns the table pages and what was retired.
  ~AddressSpace();
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;

  /// Whose idle pages are taken out of the space before each commit. They outlive the last commit. Called
  /// before the space is used.
  void set_books(PageBooks* books) noexcept;
  /// Those that had anything to bring, and began. Counted while the books are locked.
  [[nodiscard]] std::uint64_t commits() const noexcept;

  [[nodiscard]] unsigned number() const noexcept;

  /// [va, va+bytes) -> target, linear; 4 KiB granule; uses the largest leaves that alignment and length
  /// allow. The range must not be mapped. No board access. out_of_device_memory: no table page; nothing is
  /// mapped then.
  Status map(DeviceVa va, PageTarget target, std::uint64_t bytes, PageRights rights);
  /// Device memory, run after run from `va` on, like map. Of it `foreign` holds data of others: that is
  /// cleared before the board gets the mapping.
  Status map_runs(DeviceVa va, std::span<const PageRun> runs, PageRights rights,
                  std::vector<PageRun> foreign);
  /// Forgets the range. Returns whether the board may have seen it: then whatever was mapped there goes to
  /// `retire`, or unmap_now is used.
  bool unmap(DeviceVa va, std::uint64_t bytes) noexcept;
  /// The same, and retires `kept` if so, in a place of `room`: where that has one, it takes no memory, and
  /// where it has none and memory runs out nothing has changed.
  bool unmap(DeviceVa va, std::uint64_t bytes, std::shared_ptr<void> kept, Retirements& room);
  /// unmap, and returns only when the board can no longer use it. device_lost: nor can it then.
  Status unmap_now(DeviceVa va, std::uint64_t bytes);
  /// Changes the target of a mapped range, and returns when the board uses the new one only. Accesses in
  /// flight meet one or the other. out_of_device_memory: no table page; what is mapped is as it was. Any
  /// other error: what is mapped is the new target, and the board has yet to hear of it.
  Status replace(DeviceVa va, PageTarget target, std::uint64_t bytes, PageRights rights);

  /// All of `replace` that can fail but for the board: what is mapped stays as it is.
  Status make_room_to_replace(DeviceVa va, PageTarget target, std::uint64_t bytes, PageRights rights);

  /// Several changes in one step: the board meets all of it as it was or as it is to be. Ranges may begin and
  /// end inside what was mapped as one. No board access. Returns whether the board may have seen what was
  /// mapped there: commit is to be called then before anybody relies on the change. out_of_device_memory:
  /// nothing is changed.
  Result<bool> change(std::span<const PageChange> changes);
  /// Gives back tables that stand for nothing but the range, which is not mapped: for addresses that are not
  /// used again.
  void forget_tables(DeviceVa va, std::uint64_t bytes) noexcept;

  /// `runs`, which are mapped at `va`, hold foreign data: they are cleared before the board gets the mapping.
  void clear_before_use(DeviceVa va, std::vector<PageRun> runs);
  /// The runs of clear_before_use at `va` are not to be cleared any longer. Whether they were still waiting
  /// for it.
  bool cancel_clear(DeviceVa va);
  /// Keeps `kept` alive until the board acknowledged that everything unmapped before this call is gone.
  void retire(std::shared_ptr<void> kept);
  void retire(Retirements kept) noexcept;

  /// Brings collected changes and owed invalidations to the board. To be called before every doorbell whose
  /// commands use the space. Returns at once when there is nothing new. On failure everything stays
  /// collected.
  Status commit();

 private:
  AddressSpace();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace datum
