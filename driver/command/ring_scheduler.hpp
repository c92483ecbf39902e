// Which queue has which hardware ring, and everything that has to happen between submission and retirement.
#pragma once

#include <cstdint>
#include <memory>
#include <span>

#include <datum/base/result.hpp>

#include "driver/command/queue_settings.hpp"
#include "driver/memory/page_run.hpp"

namespace datum {

class Context;
class Counter;
enum class CounterReach : std::uint8_t;
class Device;
class HostSteps;
class Stream;
struct Submission;
struct UsedRange;

/// Lends the board's rings to the streams of queues. A stream holds a ring while it has work outstanding;
/// when rings are scarce, streams wait on the host: by rank, and among equals in the order in which they
/// asked. The last few rings are
/// lent only for work that cannot park (its waits are looked at by the host before), so that parked rings
/// never keep the command from running that they wait for. One ring is the driver's own, in space 0. Threads
/// that wait for anything of the device do the host's share of the work; a worker exists only once work was
/// left to the host while nobody waited, and on a board that keeps its own time only for functions of the
/// application. Thread safe. Destroyed before the device's arena and board; the
/// destructor stops every ring.
class RingScheduler {
 public:
  static Result<std::unique_ptr<RingScheduler>> create(Device& device);
  ~RingScheduler();
  /// Ends the worker, for good. Before any of the driver's devices goes: the worker asks all of them why work
  /// failed.
  void end_worker();
  RingScheduler(const RingScheduler&) = delete;
  RingScheduler& operator=(const RingScheduler&) = delete;

  /// Fills the runs (multiples of 4 KiB) with zeros by the board and returns when that is done. Takes no lock
  /// but its own, so that it may be called with locks of driver/memory held. Needs the page table of space 0:
  /// ordinal 0 at its device address, ordinal 1 from driver_space_onchip_base.
  Status clear_pages(std::span<const PageRun> runs);

  /// Waits until everything that was submitted before the call has ended (well or badly). not_ready after
  /// `timeout_ns` (~0: no limit).
  Status synchronize(std::uint64_t timeout_ns);

  /// Resets the board. What is outstanding ends with device_lost, and streams of contexts that were made
  /// before take no more work. The page table of space 0 is gone: no pages are cleared (device_lost) until
  /// the caller has made it anew and says so. On an error the board stays lost.
  Status reset_board();
  void driver_space_is_back();

  // --- for queues

  /// `context` has the device.
  std::shared_ptr<Stream> open_stream(Context& context, QueueRank rank = QueueRank::normal);
  /// handle_object_in_use when work is outstanding and does not end within a moment; work that waits for an
  /// event that was destroyed is ended instead. The stream takes no
  /// submissions afterwards.
  Status close_stream(Stream& stream);
  /// The words of host steps, made at first need. The stream's owner serialises.
  Result<HostSteps*> host_steps(Stream& stream);
  /// The stream's counter of that reach, made at first need. The stream's owner serialises.
  Result<std::shared_ptr<Counter>> counter(Stream& stream, CounterReach reach);
  /// Takes what `submission` holds, but for `points`, and returns the position of its last item. On failure
  /// nothing was taken: the error of the stream's failure, device_lost.
  Result<std::uint64_t> submit(const std::shared_ptr<Stream>& stream, Submission& submission);
  /// Success: all up to `position` has ended well, and its pins are released. not_ready. Else why it failed.
  Status outcome(Stream& stream, std::uint64_t position);
  /// The same, waiting up to `timeout_ns` (~0: no limit).
  Status wait(Stream& stream, std::uint64_t position, std::uint64_t timeout_ns);

  // --- for memory that is to be freed

  /// Returns when the commands in flight that touch the range have ended, well or badly. device_lost: they
  /// will do nothing any more.
  Status wait_unused(const UsedRange& range);
  /// Keeps `kept` alive until the commands in flight that touch the range have ended. Keeps nothing when
  /// there are none. `kept` may end in any thread, which holds no lock of the scheduler then.
  void keep_until_unused(const UsedRange& range, const std::shared_ptr<void>& kept);

  // --- for events

  /// Takes note of what the board has done. Cheap when nothing is outstanding.
  void pump();
  /// The same, for a thread that waits or asks and holds no lock: where the board keeps its own time, it also
  /// moves the memory that the host is to move.
  void serve();
  /// The host changed a word that rings, streams or threads may wait for.
  void host_changed_word();
  /// Keeps what went wrong; the number goes into words that wait for it.
  [[nodiscard]] std::uint32_t note_failure(Error error);
  /// What a failure's number stands for.
  [[nodiscard]] Error failure(std::uint32_t number);

 private:
  RingScheduler();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace datum
