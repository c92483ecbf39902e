// The driver of the API: the boards of this process and what they share.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>

#include "driver/memory/dma_buf.hpp"
#include "driver/memory/registry.hpp"
#include "driver/object/attitude.hpp"
#include "driver/object/handle_table.hpp"
#include "driver/object/host_pointers.hpp"

namespace datum {

class AddressWindow;
class Board;
class Context;
class Device;
class ExportTable;
class HostPool;

/// One in a process, made by ensure_driver and never destroyed: static objects of an application may call the
/// driver as long as the process lives. Tests make drivers of their own. Thread safe.
class Driver {
 public:
  /// Opens the boards of `addresses`. The first that cannot be opened fails the whole: a board that was asked
  /// for must not be missing in silence.
  static Result<std::unique_ptr<Driver>> open(const std::vector<std::string>& addresses);
  /// Takes over boards that were opened elsewhere.
  static Result<std::unique_ptr<Driver>> create(std::vector<std::unique_ptr<Board>> boards);
  /// Every context must be gone.
  ~Driver();
  Driver(const Driver&) = delete;
  Driver& operator=(const Driver&) = delete;

  [[nodiscard]] const std::vector<std::unique_ptr<Device>>& devices() const noexcept { return devices_; }

  [[nodiscard]] Registry& registry() noexcept { return *registry_; }

  [[nodiscard]] AddressWindow& window() noexcept { return *window_; }

  [[nodiscard]] HostPool& host_pool() noexcept { return *host_pool_; }

  [[nodiscard]] ExportTable& exports() noexcept { return *exports_; }

  [[nodiscard]] DmaBufs& dma_bufs() noexcept { return dma_bufs_; }

  [[nodiscard]] HandleSlot* handle() noexcept { return handle_; }

  /// What the environment asked for when the driver was made.
  [[nodiscard]] Attitude attitude() const noexcept { return attitude_; }

  [[nodiscard]] HostPointers& host_pointers() noexcept { return host_pointers_; }

  /// A context of all devices, made at the first call and the driver's own: it lives as long as the driver.
  /// After the reset of a device there is another one. Errors are those of Context::create.
  Result<Context*> default_context();

  /// Whether it is, or was, the default context.
  [[nodiscard]] bool owns(const Context& context) noexcept;

  /// A number that no other allocation of the process has or will have.
  [[nodiscard]] std::uint64_t next_allocation_id() noexcept {
    return next_allocation_id_.fetch_add(1, std::memory_order_relaxed);
  }

  /// The next such number; whoever adds to it may use those in between.
  [[nodiscard]] std::atomic<std::uint64_t>& allocation_ids() noexcept { return next_allocation_id_; }

  /// A number that no other context of the driver has or will have; never 0.
  [[nodiscard]] std::uint32_t next_context_id() noexcept {
    return next_context_id_.fetch_add(1, std::memory_order_relaxed);
  }

 private:
  Driver();

  std::atomic<std::uint64_t> next_allocation_id_{1};
  std::atomic<std::uint32_t> next_context_id_{1};
  std::unique_ptr<Registry> registry_;
  std::unique_ptr<AddressWindow> window_;
  std::unique_ptr<HostPool> host_pool_;
  DmaBufs dma_bufs_{linux_dma_bufs()};
  std::unique_ptr<ExportTable> exports_;
  std::vector<std::unique_ptr<Device>> devices_;
  Attitude attitude_;
  HostPointers host_pointers_;
  Mutex default_context_mutex_;  ///< of making it
  std::atomic<Context*> default_context_{nullptr};
  std::vector<std::unique_ptr<Context>> former_default_contexts_ DATUM_GUARDED_BY(default_context_mutex_);
  HandleSlot* handle_ = nullptr;
};

/// The addresses in a value of DATUM_BOARDS: separated by commas. A piece like "latency=10" or "step", which
/// begins with no scheme, belongs to the address before it.
[[nodiscard]] std::vector<std::string> split_board_addresses(std::string_view text);

/// This process's driver, opened at the first call: the boards of DATUM_BOARDS, else the cards that are bound
/// to VFIO. After a failure the next call tries again. A forked child gets a driver of its own.
Result<Driver*> ensure_driver();
/// This process's driver, or null when none was opened. Wait-free.
[[nodiscard]] Driver* current_driver() noexcept;

}  // namespace datum
