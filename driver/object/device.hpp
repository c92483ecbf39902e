// A device of the API: a board and what the process keeps about it.
#pragma once

#include <cstdint>
#include <memory>
#include <string_view>

#include <datum/base/result.hpp>

#include "driver/device/board.hpp"
#include "driver/object/handle_table.hpp"

namespace datum {

class Driver;
class DeviceHeap;
class IovaAllocator;
class HostArena;
class RingScheduler;

/// Lives as long as the driver. Thread safe.
class Device {
 public:
  static Result<std::unique_ptr<Device>> create(Driver& driver, std::unique_ptr<Board> board, unsigned index);
  ~Device();

  [[nodiscard]] Driver& driver() noexcept { return driver_; }
  [[nodiscard]] Board& board() noexcept { return *board_; }
  [[nodiscard]] unsigned index() const noexcept { return index_; }
  [[nodiscard]] DeviceHeap& heap(unsigned ordinal) noexcept;   ///< ordinal 0 or 1
  [[nodiscard]] IovaAllocator& iovas() noexcept { return *iovas_; }
  [[nodiscard]] HostArena& arena() noexcept { return *arena_; }
  [[nodiscard]] RingScheduler& rings() noexcept { return *rings_; }  ///< driver/command/ring_scheduler.hpp
  [[nodiscard]] HandleSlot* handle() noexcept { return handle_; }

 private:
  Device(Driver& driver, std::unique_ptr<Board> board, unsigned index);

  Driver& driver_;
  std::unique_ptr<Board> board_;
  unsigned index_;
  std::unique_ptr<IovaAllocator> iovas_;
  std::unique_ptr<DeviceHeap> dram_;
  std::unique_ptr<DeviceHeap> onchip_;
  std::unique_ptr<HostArena> arena_;
  std::unique_ptr<RingScheduler> rings_;
  HandleSlot* handle_ = nullptr;
};

}  // namespace datum
