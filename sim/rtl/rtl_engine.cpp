#include "sim/rtl/rtl_engine.hpp"

#include <filesystem>
#include <utility>

#include <fmt/format.h>

#include "rtl_model/verilated_runtime/verilated_failure.hpp"
#include "sim/rtl/waveform_scopes.hpp"

namespace datum::sim {

namespace {

constexpr std::uint64_t reset_cycles = 32;
/// An access of the host that is not answered after this many cycles never will be. Far above a walk, a
/// refresh and full back-pressure.
constexpr std::uint64_t answer_cycles = 200'000;
constexpr std::uint64_t memory_start_cycles = 1'000'000;
/// A board is taken to be quiescent when it said so for this long: a wake-up takes a few cycles to show.
constexpr unsigned calm_cycles = 8;
/// Reading the host's clock costs as much as a tenth of a cycle, so the board's timer moves in steps of this
/// many cycles.
constexpr std::uint64_t timer_cycles = 16;
constexpr std::uint64_t cycle_ps = 3333;

}  // namespace

struct RtlEngine::Bench {
  Bench(std::unique_ptr<VerilatedBoard> made, DramArray& array, HostBus& bus,
        const HostSlave::Settings& settings)
      : model(std::move(made)),
        pins(model->pins()),
        registers({pins.s_axil_bar0_awaddr_i, pins.s_axil_bar0_awvalid_i, pins.s_axil_bar0_awready_o,
                   pins.s_axil_bar0_wdata_i, pins.s_axil_bar0_wstrb_i, pins.s_axil_bar0_wvalid_i,
                   pins.s_axil_bar0_wready_o, pins.s_axil_bar0_bvalid_o, pins.s_axil_bar0_bready_i,
                   pins.s_axil_bar0_araddr_i, pins.s_axil_bar0_arvalid_i, pins.s_axil_bar0_arready_o,
                   pins.s_axil_bar0_rdata_o, pins.s_axil_bar0_rvalid_o, pins.s_axil_bar0_rready_i}),
        messages({pins.s_axil_bar4_awaddr_i, pins.s_axil_bar4_awvalid_i, pins.s_axil_bar4_awready_o,
                  pins.s_axil_bar4_wdata_i, pins.s_axil_bar4_wstrb_i, pins.s_axil_bar4_wvalid_i,
                  pins.s_axil_bar4_wready_o, pins.s_axil_bar4_bvalid_o, pins.s_axil_bar4_bready_i,
                  pins.s_axil_bar4_araddr_i, pins.s_axil_bar4_arvalid_i, pins.s_axil_bar4_arready_o,
                  pins.s_axil_bar4_rdata_o, pins.s_axil_bar4_rvalid_o, pins.s_axil_bar4_rready_i}),
        aperture(pins),
        memory(pins, array),
        host(pins, bus, settings) {}

  std::unique_ptr<VerilatedBoard> model;
  BoardPins& pins;
  AxilMaster<IData> registers;
  AxilMaster<SData> messages;
  ApertureMaster aperture;
  DramDevice memory;
  HostSlave host;
};

RtlEngine::RtlEngine(const EngineSurroundings& surroundings, BoardFactory make_board)
    : options_(surroundings.options),
      dram_array_(surroundings.dram),
      host_(surroundings.host),
      timebase_(surroundings.timebase),
      hash_(surroundings.hash),
      make_board_(std::move(make_board)) {}

RtlEngine::~RtlEngine() { host_.watch_by(nullptr); }

void RtlEngine::build() {
  waveform_.reset();
  bench_.reset();  // closes its files first
  const VerilatedSettings settings{options_.seed, !options_.waveform.file.empty(), coverage_file()};
  bench_ = std::make_unique<Bench>(
      make_board_(settings), dram_array_, host_,
      HostSlave::Settings{options_.host_latency_cycles, options_.backpressure_percent, options_.seed});
  if (settings.waveforms) {
    prepare_waveform();
  }
  ++builds_;
}

std::string RtlEngine::coverage_file() const {
  const std::string& file = options_.coverage_file;
  // In a folder each model has a file of its own anyhow.
  const bool stays = builds_ == 0 || file.empty() || std::filesystem::is_directory(file);
  return stays ? file : fmt::format("{}.{}", file, builds_);
}

void RtlEngine::prepare_waveform() {
  const WaveformOptions& wanted = options_.waveform;
  const std::string file = file_of_life(wanted.file, builds_ + 1U);
  std::vector<std::string> scopes;
  if (!wanted.scopes.empty()) {
    auto found = find_waveform_scopes(*bench_->model, file, wanted.scopes);
    if (!found) {
      lose(std::move(found).error().message);
      return;
    }
    scopes = std::move(found).value();
  }
  waveform_ = std::make_unique<Waveform>(*bench_->model, wanted, file, std::move(scopes));
  if (!wanted.triggers.empty()) {
    triggers_ = std::make_unique<WaveformTriggerWatch>(wanted.triggers, [this] { waveform_->trigger(); });
    host_.watch_by(triggers_.get());
  }
}

void RtlEngine::reset_pins() {
  auto& pins = bench_->pins;
  bench_->registers.idle();
  bench_->messages.idle();
  bench_->aperture.idle();
  bench_->memory.power_on();
  bench_->host.idle();
  pins.strap_memory_bytes_i = options_.memory_bytes;
  pins.strap_aperture_fixed_bytes_i = options_.aperture_bytes;
  pins.strap_aperture_window_bytes_i = options_.window_bytes;
  pins.strap_channels_i = static_cast<CData>(options_.channels);
  pins.strap_memory_clean_i = 1;
}

void RtlEngine::power_on() {
  if (bench_ == nullptr || !lost_.empty()) {
    lost_.clear();
    build();
  }
  bench_->pins.rst_ni = 0;
  for (std::uint64_t count = 0; count < reset_cycles; ++count) {
    reset_pins();
    tick();
  }
  bench_->pins.rst_ni = 1;
  bench_->memory.set_timing(read_timing());
  if (triggers_ != nullptr && triggers_->waits_for(WaveformTrigger::Kind::fault)) {
    triggers_->set_rings(access_register_read(hw::ring_count));
  }
  for (std::uint64_t waited = 0; lost_.empty(); waited += timer_cycles) {
    if (hw::McStatusRegister{access_register_read(hw::mc_status)}.ready()) {
      if (!options_.design.empty()) {
        check_sizes();
      }
      return;
    }
    if (waited > memory_start_cycles) {
      lose("the memory controller does not become ready");
    }
    run(timer_cycles);
  }
}

DramTiming RtlEngine::read_timing() {
  DramTiming timing;
  timing.row = {access_register_read(hw::mc_timing0)};
  timing.column = {access_register_read(hw::mc_timing1)};
  timing.refresh = {access_register_read(hw::mc_timing2)};
  timing.recovery = {access_register_read(hw::mc_timing3)};
  return timing;
}

void RtlEngine::check_sizes() {
  const struct {
    const char* name;
    std::uint32_t offset;
    const char* option;
    std::uint64_t bytes;
  } sizes[] = {{"MEMORY_BYTES", hw::memory_bytes, "memory", options_.memory_bytes},
               {"APERTURE_FIXED_BYTES", hw::aperture_fixed_bytes, "aperture", options_.aperture_bytes},
               {"APERTURE_WINDOW_BYTES", hw::aperture_window_bytes, "window", options_.window_bytes}};

  for (const auto& size : sizes) {
    const std::uint64_t low = access_register_read(size.offset);
    const std::uint64_t found = low | (std::uint64_t{access_register_read(size.offset + 4)} << 32U);
    if (found != size.bytes) {
      lose(fmt::format("{} of the design {} reads {}, and the simulated host has {}: the option {} of its "
                       "datum_add_board() must agree with the RTL",
                       size.name, options_.name, found, size.bytes, size.option));
    }
  }
}

void RtlEngine::lose(std::string reason) {
  if (lost_.empty()) {
    lost_ = std::move(reason);
    if (waveform_ != nullptr) {
      waveform_->finish();
    }
  }
}

void RtlEngine::tick() {
  if (!lost_.empty()) {
    return;
  }
  try {
    evaluate_cycle();
  } catch (const rtl_model::ModelFailure& failure) {
    bench_->model->dump(cycle_ * cycle_ps + cycle_ps / 2);  // the signals as they failed
    lose(fmt::format("{}, in cycle {}", failure.what(), cycle_));
    return;
  }
  if (!bench_->memory.violation().empty()) {
    lose(bench_->memory.violation());
  }
}

void RtlEngine::evaluate_cycle() {
  auto& bench = *bench_;
  auto& pins = bench.pins;
  if (waveform_ != nullptr) {
    waveform_->begin_cycle(cycle_);
  }
  if (timebase_.step_locked() || cycle_ % timer_cycles == 0) {
    pins.timer_i = timebase_.now_ns(cycle_);
  }
  const bool in_reset = pins.rst_ni == 0;
  if (!in_reset) {
    bench.host.drive(cycle_);
    bench.memory.drive(cycle_);
  }
  pins.clk_i = 0;
  bench.model->evaluate();
  bench.model->dump(cycle_ * cycle_ps);
  if (!in_reset) {
    bench.registers.sample();
    bench.messages.sample();
    bench.aperture.sample();
    bench.memory.sample(cycle_);
    bench.host.sample();
  }
  pins.clk_i = 1;
  bench.model->evaluate();
  bench.model->dump(cycle_ * cycle_ps + cycle_ps / 2);
  ++cycle_;
  if (!in_reset) {
    bench.registers.advance();
    bench.messages.advance();
    bench.aperture.advance();
    bench.host.advance(cycle_);
  }
}

Activity RtlEngine::activity() const {
  if (!lost_.empty()) {
    return {};
  }
  return {bench_->pins.quiescent_o != 0, bench_->pins.parked_o != 0};
}

Activity RtlEngine::run(std::uint64_t cycles) {
  // A timer that moves in steps must move now: a parked ring may be due.
  bench_->pins.timer_i = timebase_.now_ns(cycle_);
  unsigned calm = 0;
  for (std::uint64_t count = 0; count < cycles && lost_.empty(); ++count) {
    tick();
    calm = bench_->pins.quiescent_o != 0 ? calm + 1 : 0;
    if (calm == calm_cycles) {
      break;
    }
  }
  auto state = activity();
  state.quiescent = state.quiescent && (calm >= calm_cycles || !lost_.empty());
  return state;
}

void RtlEngine::finish(const std::function<bool()>& done, const char* what) {
  for (std::uint64_t waited = 0; lost_.empty() && !done(); ++waited) {
    if (waited == answer_cycles) {
      lose(fmt::format("{} was not answered within {} cycles, in cycle {}", what, answer_cycles, cycle_));
    }
    tick();
  }
}

std::uint32_t RtlEngine::access_register_read(std::uint32_t offset) {
  auto& port = bench_->registers;
  bench_->pins.timer_i = timebase_.now_ns(cycle_);  // it may be the timer that is read
  port.begin_read(offset);
  finish([&] { return port.done(); }, "a register read");
  return lost_.empty() ? port.data() : ~0U;
}

void RtlEngine::access_register_write(std::uint32_t offset, std::uint32_t value) {
  auto& port = bench_->registers;
  port.begin_write(offset, value);
  finish([&] { return port.done(); }, "a register write");
  if (offset >= hw::mc_timing0 && offset <= hw::mc_timing3) {
    bench_->memory.program(read_timing());  // it may have been refused
  }
}

std::uint32_t RtlEngine::read_register32(std::uint32_t offset) {
  const auto value = access_register_read(offset);
  hash_.add(TransactionHash::Kind::register_read, cycle_, offset, value, {});
  return value;
}

std::uint64_t RtlEngine::read_register64(std::uint32_t offset) {
  // Low first: the board takes a snapshot of the high half with it.
  const std::uint64_t low = read_register32(offset);
  return low | (std::uint64_t{read_register32(offset + 4)} << 32U);
}

void RtlEngine::write_register32(std::uint32_t offset, std::uint32_t value) {
  if (triggers_ != nullptr) {
    triggers_->saw_write(offset, value, sizeof value);
  }
  write_half(offset, value);
}

void RtlEngine::write_half(std::uint32_t offset, std::uint32_t value) {
  access_register_write(offset, value);
  hash_.add(TransactionHash::Kind::register_write, cycle_, offset, value, {});
}

void RtlEngine::write_register64(std::uint32_t offset, std::uint64_t value) {
  if (triggers_ != nullptr) {
    triggers_->saw_write(offset, value, sizeof value);
  }
  write_half(offset, static_cast<std::uint32_t>(value));
  write_half(offset + 4, static_cast<std::uint32_t>(value >> 32U));
}

void RtlEngine::write_message_table32(std::uint32_t offset, std::uint32_t value) {
  if (!lost_.empty()) {
    return;
  }
  auto& port = bench_->messages;
  port.begin_write(offset, value);
  finish([&] { return port.done(); }, "a write to the interrupt table");
}

void RtlEngine::read_aperture(std::uint64_t offset, std::span<std::byte> to) {
  auto& port = bench_->aperture;
  while (!to.empty() && lost_.empty()) {
    const auto piece = to.first(ApertureMaster::piece(offset, to.size()));
    port.begin_read(offset, piece);
    finish([&] { return port.done(); }, "a read of the aperture");
    hash_.add(TransactionHash::Kind::aperture_read, cycle_, offset, piece.size(), piece);
    offset += piece.size();
    to = to.subspan(piece.size());
  }
}

void RtlEngine::write_aperture(std::uint64_t offset, std::span<const std::byte> from) {
  auto& port = bench_->aperture;
  while (!from.empty() && lost_.empty()) {
    const auto piece = from.first(ApertureMaster::piece(offset, from.size()));
    port.begin_write(offset, piece);
    finish([&] { return port.done(); }, "a write to the aperture");
    hash_.add(TransactionHash::Kind::aperture_write, cycle_, offset, piece.size(), piece);
    offset += piece.size();
    from = from.subspan(piece.size());
  }
}

}  // namespace datum::sim
