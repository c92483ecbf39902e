// Which queue has which hardware ring, and everything that has to happen between submission and retirement.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <datum/base/result.hpp>

#include "driver/memory/page_run.hpp"

namespace datum {

class Device;
class Stream;

/// Lends the board's rings to the streams of queues. A stream holds a ring while it has work outstanding;
/// when rings are scarce, streams wait on the host in the order in which they asked. The last few rings are
/// lent only for work that cannot park, so that parked rings never keep the command from running that they
/// wait for. One ring is the driver's own, in space 0. Thread safe. Destroyed before the device's arena and
/// board; the destructor stops every ring.
class RingScheduler {
 public:
  static Result<std::unique_ptr<RingScheduler>> create(Device& device);
  ~RingScheduler();
  RingScheduler(const RingScheduler&) = delete;
  RingScheduler& operator=(const RingScheduler&) = delete;

  /// Fills the runs (multiples of 4 KiB) with zeros by the board and returns when that is done. Takes no lock
  /// but its own, so that it may be called with locks of driver/memory held. Needs the page table of space 0:
  /// ordinal 0 at its device address, ordinal 1 from VA 2^46.
  Status clear_pages(std::span<const PageRun> runs);

  /// Waits until everything that was submitted before the call has ended (well or badly). not_ready after
  /// `timeout_ns` (~0: no limit).
  Status synchronize(std::uint64_t timeout_ns);

 private:
  RingScheduler();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace datum
