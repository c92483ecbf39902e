// The parts of the golden model, wired together.
#pragma once

#include <cstdint>

#include "sim/board/options.hpp"
#include "sim/board/timebase.hpp"
#include "sim/model/ecc_unit.hpp"
#include "sim/model/memory_port.hpp"
#include "sim/model/message_table.hpp"
#include "sim/model/mmu.hpp"
#include "sim/model/ring_engine.hpp"
#include "sim/model/timing_registers.hpp"
#include "sim/model/word_watch.hpp"

namespace datum::sim {

/// Registers that belong to no other part.
struct GlobalRegisters {
  std::uint64_t window_base = 0;
  std::uint64_t scratch = 0;
  std::uint32_t channel_enable = 0;
  std::uint64_t inv_address = 0;
  std::uint64_t inv_bytes = 0;
  std::uint32_t inv_space = 0;
  std::uint32_t inv_done_count = 0;
};

struct GoldenParts {
  static constexpr std::uint64_t onchip_bytes = 256UL * 1024;
  static constexpr std::uint64_t clock_hz = 300'000'000;
  static constexpr std::uint64_t timer_hz = 1'000'000'000;

  GoldenParts(const BoardOptions& board, DramArray& dram, HostBus& host, const Timebase& time)
      : options(board),
        timebase(time),
        ecc(dram, counters),
        memory(dram, ecc, host, onchip_bytes, counters, watch),
        mmu(memory, counters),
        messages(host, counters),
        rings(memory, mmu, watch, messages, counters, time) {
    reset();
  }

  GoldenParts(const GoldenParts&) = delete;
  GoldenParts& operator=(const GoldenParts&) = delete;
  ~GoldenParts() = default;

  /// What the RESET register does: everything but the message table, the memory's timing and its contents.
  void reset() noexcept {
    global = {};
    global.channel_enable = options.channels;
    mmu.reset();
    rings.reset();
    ecc.reset();
    counters.reset();
  }

  const BoardOptions& options;
  const Timebase& timebase;
  Counters counters;
  WordWatch watch;
  EccUnit ecc;
  MemoryPort memory;
  Mmu mmu;
  MessageTable messages;
  TimingRegisters timing;
  RingEngine rings;
  GlobalRegisters global;
};

}  // namespace datum::sim
