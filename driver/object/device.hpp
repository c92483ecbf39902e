// A device of the API: a board and what the process keeps about it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <string_view>
#include <vector>

#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>

#include "driver/device/board.hpp"
#include "driver/device/error_set.hpp"
#include "driver/object/handle_table.hpp"

namespace datum {

class AddressSpace;
class Driver;
class DeviceHeap;
class DmaMap;
class HostArena;
class PageBooks;
class RingScheduler;
enum class ExternalType : std::uint8_t;

/// Where the driver's own space (number 0) shows ordinal 1; ordinal 0 stands at its device addresses.
inline constexpr std::uint64_t driver_space_onchip_base = 1ULL << 46U;

/// Lives as long as the driver. Thread safe.
class Device {
 public:
  static Result<std::unique_ptr<Device>> create(Driver& driver, std::unique_ptr<Board> board, unsigned index);
  ~Device();
  Device(const Device&) = delete;
  Device& operator=(const Device&) = delete;

  [[nodiscard]] Driver& driver() noexcept { return driver_; }

  /// Whether memory of the board's DRAM can be given away as a descriptor of that type, to be used by another
  /// process.
  [[nodiscard]] bool exports(ExternalType type);
  /// Whether memory behind such a descriptor can be shown to the board.
  [[nodiscard]] bool imports(ExternalType type);

  [[nodiscard]] Board& board() noexcept { return *board_; }

  [[nodiscard]] unsigned index() const noexcept { return index_; }

  /// Memories: 2 where the board has on-chip memory, else 1.
  [[nodiscard]] unsigned memory_count() const noexcept { return onchip_ != nullptr ? 2 : 1; }

  [[nodiscard]] DeviceHeap& heap(unsigned ordinal) noexcept;  ///< ordinal < memory_count()

  [[nodiscard]] DmaMap& dma() noexcept { return *dma_; }

  [[nodiscard]] HostArena& arena() noexcept { return *arena_; }

  [[nodiscard]] RingScheduler& rings() noexcept { return *rings_; }  ///< driver/command/ring_scheduler.hpp

  [[nodiscard]] HandleSlot* handle() noexcept { return handle_; }

  [[nodiscard]] HandleSlot* sysman_memory(unsigned ordinal) noexcept { return sysman_memories_[ordinal]; }

  /// Whether words of the DRAM are protected.
  [[nodiscard]] bool has_ecc() const noexcept { return board_->capabilities().ecc; }

  /// Sets of errors that the board counts: two where it protects its memory, else none.
  [[nodiscard]] unsigned error_set_count() const noexcept {
    return has_ecc() ? static_cast<unsigned>(error_sets_.size()) : 0;
  }

  [[nodiscard]] ErrorSet& error_set(unsigned index) noexcept { return error_sets_[index]; }

  [[nodiscard]] HandleSlot* sysman_errors(unsigned index) noexcept { return sysman_errors_[index]; }

  /// Its DMA channels; null where the board does not count how long they work.
  [[nodiscard]] HandleSlot* sysman_engines() noexcept { return sysman_engines_; }

  /// Queues of the one queue group: an index is below this.
  [[nodiscard]] unsigned queue_count() const noexcept;

  /// The same in every process and on every day for a card in its slot.
  [[nodiscard]] const std::array<std::uint8_t, 16>& uuid() const noexcept { return uuid_; }

  /// The largest single allocation in either memory.
  [[nodiscard]] std::uint64_t max_allocation_bytes() noexcept;

  /// Whether commands of this device can use the memory of `other`: always its own, and that of a board which
  /// exports memory in a way that this one imports.
  [[nodiscard]] bool can_access(Device& other) noexcept;

  /// Resets the board, be it lost or not. Contexts that have the device are lost then; with any of them alive
  /// only if `force`, else handle_object_in_use. unsupported_feature: the card has no reset. On any other
  /// error the device is lost.
  Status reset(bool force);

  /// Held with others by who begins to use the device: no reset begins meanwhile.
  [[nodiscard]] SharedMutex& reset_mutex() noexcept DATUM_RETURNS(reset_mutex_) { return reset_mutex_; }

  /// The spaces of contexts and what is idle in them, so that both can be emptied before memory is said to be
  /// exhausted.
  void add_space(AddressSpace& space, PageBooks& books);
  void remove_space(AddressSpace& space) noexcept;
  /// Commits every space: what the board acknowledged is free again afterwards, and so is what was idle.
  Status drain_quarantine();
  /// What is idle in contexts is free afterwards.
  void give_back_idle();

 private:
  Device(Driver& driver, std::unique_ptr<Board> board, unsigned index);
  Status build();
  Status build_driver_space();
  Status register_handles();

  Driver& driver_;
  std::unique_ptr<Board> board_;
  unsigned index_;
  std::unique_ptr<DmaMap> dma_;
  std::unique_ptr<DeviceHeap> dram_;
  std::unique_ptr<DeviceHeap> onchip_;
  std::unique_ptr<HostArena> arena_;
  std::unique_ptr<AddressSpace> driver_space_;
  std::unique_ptr<RingScheduler> rings_;
  SharedMutex reset_mutex_;
  Mutex spaces_mutex_;

  struct Space {
    AddressSpace* space = nullptr;
    PageBooks* books = nullptr;
  };

  std::vector<Space> spaces_ DATUM_GUARDED_BY(spaces_mutex_);
  std::array<std::uint8_t, 16> uuid_{};
  std::array<HandleSlot*, 2> sysman_memories_{};
  std::array<ErrorSet, 2> error_sets_;
  std::array<HandleSlot*, 2> sysman_errors_{};
  HandleSlot* sysman_engines_ = nullptr;
  HandleSlot* handle_ = nullptr;
};

}  // namespace datum
