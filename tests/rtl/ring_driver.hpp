// What a driver does for one ring, for tests of the whole board: ring, descriptors, completion record.
#pragma once

#include <cstdint>

#include <datum/hw/registers.hpp>

#include "tests/rtl/board_bench.hpp"

namespace datum::rtl_test {

class RingDriver {
 public:
  RingDriver(BoardBench& bench, unsigned ring, std::uint64_t base, unsigned size_log2 = 8);

  /// Host address of the completion record.
  [[nodiscard]] std::uint64_t record_address() const noexcept { return record_; }

  [[nodiscard]] hw::CompletionRecord record() {
    return bench_.host.memory.get<hw::CompletionRecord>(record_);
  }

  /// Puts a descriptor into the next slot; its sequence is the number of the slot plus one.
  std::uint32_t add(hw::Descriptor descriptor);
  void ring_doorbell();
  /// Waits until the record has `sequence`; false after `limit` cycles.
  bool wait(std::uint32_t sequence, std::uint64_t limit = 200'000);
  [[nodiscard]] hw::RingState state();

 private:
  BoardBench& bench_;
  unsigned ring_;
  std::uint64_t base_;
  std::uint64_t record_;
  unsigned size_log2_;
  std::uint32_t tail_ = 0;
};

[[nodiscard]] hw::Descriptor copy(std::uint64_t dst, std::uint64_t src, std::uint64_t bytes);

}  // namespace datum::rtl_test
