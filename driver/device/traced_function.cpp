#include "driver/device/traced_function.hpp"

#include <atomic>
#include <utility>

#include <datum/hw/registers.hpp>

#include "driver/device/host_clock.hpp"
#include "driver/device/limits.hpp"
#include "driver/device/traffic_counters.hpp"
#include "driver/trace/trace.hpp"

namespace datum {

namespace {

using trace::Kind;
using trace::now_ns;

/// In the order of trace::counter_names; those that count beats are told in bytes.
struct CounterRow {
  std::uint32_t offset;
  std::uint64_t unit;
};

constexpr CounterRow counter_rows[] = {
    {hw::perf_host_read_beats, bus_beat_bytes},
    {hw::perf_host_write_beats, bus_beat_bytes},
    {hw::perf_dram_reads, 1},
    {hw::perf_dram_writes, 1},
    {hw::perf_dram_activates, 1},
    {hw::perf_dram_refreshes, 1},
    {hw::perf_tlb_hits, 1},
    {hw::perf_walks, 1},
    {hw::perf_descriptors, 1},
    {hw::ecc_corrected_count, 1},
    {hw::ecc_uncorrected_count, 1},
    {hw::perf_stalled_cycles, 1},
};
static_assert(std::size(counter_rows) == trace::counter_names.size());

/// What `call` returns, with a span of that name in the trace.
template <class Call>
auto spanned(std::uint8_t board, const char* name, const Call& call) {
  const std::uint64_t begin_ns = now_ns();
  auto outcome = call();
  if (trace::on()) {
    trace::note_span(Kind::span, name, begin_ns, board, {});
  }
  return outcome;
}

class TracedFunction final : public board::PcieFunction {
 public:
  explicit TracedFunction(std::unique_ptr<board::PcieFunction> inner)
      : inner_(std::move(inner)), number_(trace::note_board(inner_->info().address)) {}

  [[nodiscard]] std::uint8_t number() const noexcept { return number_; }

  void note_counters() noexcept;

  [[nodiscard]] const board::FunctionInfo& info() const noexcept override { return inner_->info(); }

  [[nodiscard]] const board::FunctionLimits& limits() const noexcept override { return inner_->limits(); }

  Result<board::Bar*> bar(unsigned index) override {
    Result<board::Bar*> found = inner_->bar(index);
    if (found && index == 0) {
      registers_.store(*found, std::memory_order_relaxed);
    }
    return found;
  }

  Status dma_map(Iova iova, std::span<std::byte> host, board::DmaAccess access) override {
    return spanned(number_, "dma_map", [&] { return inner_->dma_map(iova, host, access); });
  }

  Status dma_map_fd(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                    board::DmaAccess access) override {
    return spanned(number_, "dma_map_fd",
                   [&] { return inner_->dma_map_fd(iova, fd, offset, bytes, access); });
  }

  Status dma_unmap(Iova iova, std::uint64_t bytes) override {
    return spanned(number_, "dma_unmap", [&] { return inner_->dma_unmap(iova, bytes); });
  }

  Result<int> interrupt_fd(unsigned vector) override { return inner_->interrupt_fd(vector); }

  Result<board::WaitOutcome> wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) override;

  [[nodiscard]] board::Clock clock() noexcept override { return inner_->clock(); }

  Status reset(board::ResetKind kind) override {
    return spanned(number_, "reset", [&] { return inner_->reset(kind); });
  }

  Status health() override { return inner_->health(); }

  std::vector<board::DmaFault> take_dma_faults() override { return inner_->take_dma_faults(); }

  Result<UniqueFd> export_memory(std::span<const board::DeviceRange> ranges,
                                 std::string_view label) override {
    return spanned(number_, "export_memory", [&] { return inner_->export_memory(ranges, label); });
  }

  Status end_export(std::span<const board::DeviceRange> ranges) override {
    return spanned(number_, "end_export", [&] { return inner_->end_export(ranges); });
  }

  void relax() noexcept override { inner_->relax(); }

 private:
  std::unique_ptr<board::PcieFunction> inner_;
  std::uint8_t number_;
  std::atomic<std::uint64_t> counted_ns_{0};
  std::atomic<board::Bar*> registers_{nullptr};  // the driver has asked for them, and so may they be counted
};

Result<board::WaitOutcome> TracedFunction::wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) {
  const std::uint64_t begin_ns = now_ns();
  Result<board::WaitOutcome> outcome = inner_->wait(vector, wake_fd, deadline_ns);
  if (trace::on()) {
    const bool interrupt = outcome && *outcome == board::WaitOutcome::interrupt;
    trace::note_span(interrupt ? Kind::interrupt : Kind::span, "wait", begin_ns, number_, {});
  }
  return outcome;
}

void TracedFunction::note_counters() noexcept {
  const std::uint64_t now = now_ns();
  std::uint64_t before = counted_ns_.load(std::memory_order_relaxed);
  if (now - before < limits::scaled(limits::ns_per_ms, inner_->clock()) ||
      !counted_ns_.compare_exchange_strong(before, now, std::memory_order_relaxed)) {
    return;
  }
  board::Bar* const found = registers_.load(std::memory_order_relaxed);
  if (found == nullptr) {
    return;
  }
  board::Bar& registers = *found;
  const std::uint64_t before_ns = now_ns();
  const std::uint64_t ticks = registers.read64(hw::timer);
  const std::uint64_t after_ns = now_ns();
  const std::uint64_t cycles = registers.read64(hw::cycles);
  const std::uint64_t hz = registers.read64(hw::timer_hz);
  const std::uint64_t clock_hz = registers.read64(hw::clock_hz);
  if (ticks == ~0ULL || hz == 0 || hz == ~0ULL) {
    return;  // the board is gone
  }
  trace::note_span(Kind::clock, "clock", before_ns + (after_ns - before_ns) / 2, number_,
                   {ticks, hz, cycles, clock_hz});
  std::array<std::uint64_t, std::size(counter_rows)> v{};
  for (std::size_t i = 0; i < v.size(); ++i) {
    v[i] = registers.read64(counter_rows[i].offset) * counter_rows[i].unit;
  }
  // An event has room for nine.
  trace::note(Kind::counters, "counters", number_, 0, {v[0], v[1], v[2], v[3], v[4], v[5], v[6], v[7], v[8]});
  trace::note(Kind::counters, "counters", number_, 0, {v[9], v[10], v[11]}, 9);
}

const TracedFunction* as_traced(const board::PcieFunction& function) noexcept {
  return dynamic_cast<const TracedFunction*>(&function);
}

}  // namespace

std::unique_ptr<board::PcieFunction> traced(std::unique_ptr<board::PcieFunction> function) {
  return std::make_unique<TracedFunction>(std::move(function));
}

std::uint8_t trace_number(const board::PcieFunction& function) noexcept {
  const TracedFunction* const known = as_traced(function);
  return known == nullptr ? std::uint8_t{0} : known->number();
}

void note_counters(board::PcieFunction& function) noexcept {
  if (auto* const known = dynamic_cast<TracedFunction*>(&function); known != nullptr) {
    known->note_counters();
  }
}

}  // namespace datum
