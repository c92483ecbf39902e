// The whole board between a host, a DRAM and a CPU: the bench of the tests that need more than one block.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <optional>

#include "tests/rtl/aperture_master.hpp"
#include "tests/rtl/dram_device.hpp"
#include "tests/rtl/host_bus.hpp"

class Vdatum_board_instrumented;
class VerilatedContext;

namespace datum::rtl_test {

struct Straps {
  std::uint64_t memory_bytes = 64ULL << 20U;
  std::uint64_t aperture_fixed_bytes = 1ULL << 20U;
  std::uint64_t aperture_window_bytes = 64ULL << 10U;
  unsigned channels = 4;
};

/// Starts in reset, released before the constructor returns, with random values in everything that reset does
/// not set.
class BoardBench {
 public:
  explicit BoardBench(Straps straps = {}, std::uint32_t seed = 1);
  ~BoardBench();
  BoardBench(const BoardBench&) = delete;
  BoardBench& operator=(const BoardBench&) = delete;

  HostBus host;
  SparseMemory dram_memory;
  DramDevice dram{dram_memory};
  ApertureMaster aperture;

  void cycle();
  void run(std::uint64_t cycles);
  /// False when `limit` cycles pass first.
  bool run_until(const std::function<bool()>& condition, std::uint64_t limit = 100'000);
  bool run_until_quiescent(std::uint64_t limit = 200'000);

  [[nodiscard]] std::uint64_t now() const noexcept { return now_; }

  [[nodiscard]] bool quiescent() const;
  [[nodiscard]] bool parked() const;

  /// TIMER from now on: this value, which then stands still. Without it: time of a 300 MHz clock.
  void set_timer_ns(std::uint64_t value) { timer_ns_ = value; }

  // BAR0 and BAR4, one access at a time; each returns when it was answered.
  void write32(std::uint32_t offset, std::uint32_t value);
  void write64(std::uint32_t offset, std::uint64_t value);
  [[nodiscard]] std::uint32_t read32(std::uint32_t offset);
  [[nodiscard]] std::uint64_t read64(std::uint32_t offset);
  void table_write32(std::uint32_t offset, std::uint32_t value);
  [[nodiscard]] std::uint32_t table_read32(std::uint32_t offset);

 private:
  struct Lite;  // the signals of one AXI4-Lite slave
  [[nodiscard]] Lite registers();
  [[nodiscard]] Lite table();
  void write_lite(const Lite& slave, std::uint32_t offset, std::uint32_t value);
  std::uint32_t read_lite(const Lite& slave, std::uint32_t offset);

  void drive_host();
  void drive_aperture();
  void drive_dram();
  void sample_host();
  void sample_aperture();
  void sample_dram();
  void settle();   // inputs and what follows from them, before the clock edge
  void advance();  // the clock edge

  std::unique_ptr<VerilatedContext> context_;
  std::unique_ptr<Vdatum_board_instrumented> top_;
  std::uint64_t now_ = 0;
  std::optional<std::uint64_t> timer_ns_;
};

}  // namespace datum::rtl_test
