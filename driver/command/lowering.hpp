// From recorded commands to descriptors, at submission.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <vector>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>
#include <datum/hw/registers.hpp>

#include "driver/command/host_step.hpp"
#include "driver/command/recorded_commands.hpp"
#include "driver/command/region.hpp"
#include "driver/command/stream.hpp"

namespace datum {

class AddressSpace;
class Device;

/// Fills a Submission. Not thread safe; the stream's owner serialises. On an error the caller clears the
/// submission: nothing has reached the board.
class Lowering {
 public:
  Lowering(Device& device, const std::shared_ptr<Stream>& stream, Submission& submission);

  /// One command with its waits and its signal. `in_order`: it begins when everything before has ended.
  Status lower(const RecordedCommands& recorded, const Command& command, bool in_order);
  /// Brings the mappings that the commands need to the board.
  Status commit();

  /// The stream's counters; null but for those of which a counter-based event is signalled.
  [[nodiscard]] const StreamCounters& counters() const noexcept { return counters_; }

  // --- for the commands

  [[nodiscard]] Context& context() noexcept { return stream_->context(); }

  [[nodiscard]] const Device& device() const noexcept { return device_; }

  [[nodiscard]] unsigned space() const noexcept { return stream_->space(); }

  /// How the board gets at a range of memory.
  struct Reach {
    bool direct = true;  ///< false: only through staging memory
    unsigned space = 0;
  };

  /// Makes the range usable in `of`'s space, pinning it until the command has ended where that is needed.
  Result<Reach> reach(Context& of, const void* pointer, std::uint64_t bytes, board::DmaAccess access);

  void copy(unsigned dst_space, DeviceVa dst, unsigned src_space, DeviceVa src, std::uint64_t bytes);
  /// Pitches, rows and planes fit the descriptor's 32 bits.
  void copy_region(unsigned dst_space, DeviceVa dst, const Pitches& dst_pitches, unsigned src_space,
                   DeviceVa src, const Pitches& src_pitches, const RegionShape& shape);
  void fill(DeviceVa dst, std::uint64_t bytes, const std::array<std::uint64_t, 2>& pattern,
            std::uint8_t pattern_log2);
  void timestamp(DeviceVa dst, Event* event = nullptr);
  void barrier();
  void write_word(DeviceVa word, std::uint64_t value, Event* event, bool signals);
  /// Copies from memory of an event; the event is kept until then.
  void copy_from_event(DeviceVa dst, Event& event, const std::uint64_t& first_word, std::uint64_t bytes);

  /// The host steps of the stream. `staging`: with staging memory, reachable in space().
  Result<HostSteps*> steps(bool staging = true);
  /// The board pauses here until the host has done the step. steps() was called before.
  void host_step(const HostStep& step);

  /// The next descriptor begins when everything before has ended.
  void fence_next() noexcept { fence_next_ = true; }

 private:
  void emit(hw::Descriptor& descriptor, Event* event = nullptr, bool signals = false);
  Status wait_for(const EventReference& reference);
  void wait_for_point(Event& event);
  Status signal_point(Event& event);
  void wait_word(DeviceVa word, hw::WaitCondition condition, std::uint64_t value, std::uint64_t mask,
                 Event* event);

  Device& device_;
  const std::shared_ptr<Stream>& stream_;
  Submission& submission_;
  std::vector<AddressSpace*> foreign_spaces_;
  HostSteps* steps_ = nullptr;
  StreamCounters counters_;
  std::array<std::uint64_t, counter_reaches> given_out_{};  ///< of counters_, this submission's included
  bool fence_next_ = false;
};

}  // namespace datum
