// The Verilated board as an engine: its clock, its reset, and what stands at each of its ports.
#pragma once

#include <functional>
#include <memory>
#include <string>

#include "sim/board/board.hpp"
#include "sim/board/engine.hpp"
#include "sim/rtl/aperture_master.hpp"
#include "sim/rtl/axil_master.hpp"
#include "sim/rtl/dram_device.hpp"
#include "sim/rtl/host_slave.hpp"
#include "sim/rtl/verilated_board.hpp"
#include "sim/rtl/waveform.hpp"
#include "sim/rtl/waveform_trigger.hpp"

namespace datum::sim {

class RtlEngine final : public Engine {
 public:
  using BoardFactory = std::function<std::unique_ptr<VerilatedBoard>(const VerilatedSettings&)>;

  /// `make_board` is called at the first power-on, and again at each that follows a loss.
  RtlEngine(const EngineSurroundings& surroundings, BoardFactory make_board);
  ~RtlEngine() override;
  RtlEngine(const RtlEngine&) = delete;
  RtlEngine& operator=(const RtlEngine&) = delete;

  std::uint32_t read_register32(std::uint32_t offset) override;
  std::uint64_t read_register64(std::uint32_t offset) override;
  void write_register32(std::uint32_t offset, std::uint32_t value) override;
  void write_register64(std::uint32_t offset, std::uint64_t value) override;
  void read_aperture(std::uint64_t offset, std::span<std::byte> to) override;
  void write_aperture(std::uint64_t offset, std::span<const std::byte> from) override;
  void write_message_table32(std::uint32_t offset, std::uint32_t value) override;
  Activity run(std::uint64_t cycles) override;
  [[nodiscard]] Activity activity() const override;
  void power_on() override;

  [[nodiscard]] std::uint64_t cycle() const override { return cycle_; }

  [[nodiscard]] const std::string& lost() const override { return lost_; }

 private:
  /// A model with its surroundings; made anew when a board comes back from a loss.
  struct Bench;

  void build();
  /// What a model before it has written stays where it is.
  [[nodiscard]] std::string coverage_file() const;
  /// Nothing where none is wanted. A board whose scopes are not there is lost.
  void prepare_waveform();
  void reset_pins();
  void write_half(std::uint32_t offset, std::uint32_t value);
  /// One clock cycle. Nothing happens once the board is lost.
  void tick();
  void evaluate_cycle();
  void lose(std::string reason);
  /// Ticks until `done`; a board that does not answer is lost.
  void finish(const std::function<bool()>& done, const char* what);
  std::uint32_t access_register_read(std::uint32_t offset);
  void access_register_write(std::uint32_t offset, std::uint32_t value);
  DramTiming read_timing();
  /// A design has sizes of its own, which the simulated host around it must have, too.
  void check_sizes();

  const BoardOptions& options_;
  DramArray& dram_array_;
  HostBus& host_;
  const Timebase& timebase_;
  TransactionHash& hash_;
  BoardFactory make_board_;
  std::unique_ptr<Bench> bench_;
  std::unique_ptr<Waveform> waveform_;  // of the bench's model
  std::unique_ptr<WaveformTriggerWatch> triggers_;
  unsigned builds_ = 0;
  std::uint64_t cycle_ = 0;
  std::string lost_;
};

}  // namespace datum::sim
