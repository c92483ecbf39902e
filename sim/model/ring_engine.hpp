// The rings of the golden model: fetches descriptors, has them carried out in turn, and reports how they
// ended.
#pragma once

#include <array>
#include <cstdint>

#include "sim/board/engine.hpp"
#include "sim/model/busy_time.hpp"
#include "sim/model/executor.hpp"
#include "sim/model/message_table.hpp"
#include "sim/model/ring.hpp"

namespace datum::sim {

/// The global registers that rings write.
struct RingReports {
  std::uint64_t interrupt_rings = 0;
  std::uint32_t interrupt_global = 0;
  std::uint32_t fault_count = 0;
  std::uint32_t log_info = 0;
  std::uint32_t log_ring = 0;
  std::uint64_t log_address = 0;
  std::uint32_t log_sequence = 0;

  void clear_faults() noexcept {
    fault_count = log_info = log_ring = log_sequence = 0;
    log_address = 0;
  }
};

class RingEngine {
 public:
  static constexpr unsigned ring_count = hw::ring_page_block_count;
  static constexpr std::uint32_t default_park_recheck_ns = 1'000'000;

  RingEngine(MemoryPort& memory, Mmu& mmu, WordWatch& watch, MessageTable& messages, Counters& counters,
             const Timebase& timebase)
      : memory_(memory),
        watch_(watch),
        messages_(messages),
        counters_(counters),
        timebase_(timebase),
        executor_(memory, mmu, watch, counters, timebase) {}

  [[nodiscard]] Ring& ring(unsigned number) noexcept { return rings_[number]; }

  [[nodiscard]] RingReports& reports() noexcept { return reports_; }

  [[nodiscard]] std::uint32_t park_recheck_ns() const noexcept { return park_recheck_ns_; }

  void set_park_recheck_ns(std::uint32_t ns) noexcept { park_recheck_ns_ = ns; }

  void set_enabled(unsigned number, bool enabled) noexcept;
  void ring_doorbell(unsigned number, std::uint32_t tail) noexcept;
  void reset() noexcept;

  /// Works for about `cycles`.
  void run(std::uint64_t cycles);
  /// Whether some ring could go on now.
  [[nodiscard]] bool has_work() const noexcept;

  /// The interrupt of the memory controller.
  void raise_memory();

  /// Ticks of TIMER since the reset in which a descriptor was carried out.
  [[nodiscard]] std::uint64_t busy_ticks() const noexcept { return busy_.total_ns(now_ns()); }

  [[nodiscard]] bool any_parked() const noexcept { return watch_.any_watching(); }

 private:
  [[nodiscard]] bool due(unsigned number) const noexcept;
  [[nodiscard]] bool can_go_on(unsigned number) const noexcept;
  [[nodiscard]] unsigned next_enabled() const noexcept;

  [[nodiscard]] std::uint64_t now_ns() const noexcept { return timebase_.now_ns(counters_.cycle); }

  void work_on(unsigned number);
  [[nodiscard]] bool fetch(unsigned number);
  void begin(Ring& ring) noexcept;
  /// What the ring had begun, if anything, is over.
  void end(Ring& ring) noexcept;
  void complete(unsigned number);
  void fail(unsigned number, const Failure& failure, std::uint32_t sequence);
  void record_fault(unsigned number, const Failure& failure, std::uint32_t sequence);
  void report(unsigned number, const Failure& failure, std::uint32_t sequence);
  void deliver_record(unsigned number);
  void raise_ring(unsigned number);
  void raise_fault();

  std::array<Ring, ring_count> rings_{};
  MemoryPort& memory_;
  WordWatch& watch_;
  MessageTable& messages_;
  Counters& counters_;
  const Timebase& timebase_;
  Executor executor_;
  std::uint64_t enabled_ = 0;  ///< by ring: only these are looked at between two descriptors
  RingReports reports_;
  BusyTime busy_;
  std::uint32_t park_recheck_ns_ = default_park_recheck_ns;
  unsigned next_ = 0;
  unsigned turns_taken_ = 0;  ///< by the ring that was served last, beyond the first
};

}  // namespace datum::sim
