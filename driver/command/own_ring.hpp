// The driver's own ring: ring 0, in space 0, for clearing pages.
#pragma once

#include <memory>
#include <span>

#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>

#include "driver/command/lent_ring.hpp"
#include "driver/memory/page_run.hpp"

namespace datum {

class Device;

/// Thread safe; callers are served one after the other, each by its own thread.
class OwnRing {
 public:
  static Result<std::unique_ptr<OwnRing>> create(Device& device);
  OwnRing(const OwnRing&) = delete;
  OwnRing& operator=(const OwnRing&) = delete;
  ~OwnRing();

  /// See RingScheduler::clear_pages.
  Status clear(std::span<const PageRun> runs);

  /// Waits for whoever is clearing pages, which fails on a board that is lost. Nobody clears pages from here
  /// on until driver_space_is_back().
  void board_was_reset();
  void driver_space_is_back();

 private:
  OwnRing(Device& device, std::unique_ptr<LentRing> lent) : device_(device), lent_(std::move(lent)) {}

  Status wait_until_drained() DATUM_REQUIRES(mutex_);

  Device& device_;
  Mutex mutex_;
  std::unique_ptr<LentRing> lent_ DATUM_GUARDED_BY(mutex_);
  bool has_space_ DATUM_GUARDED_BY(mutex_) = true;  ///< the page table of space 0 is there
};

}  // namespace datum
