#include "driver/device/board.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>
#include <datum/board/watchdog_mark.hpp>
#include <datum/hw/registers.hpp>

#include "driver/device/backend_table.hpp"
#include "driver/device/register_wait.hpp"
#include "driver/device/traced_function.hpp"
#include "driver/trace/trace.hpp"

namespace datum {

struct Board::Loss {
  std::atomic<bool> lost{false};
  std::atomic<std::uint64_t> life{0};
  Mutex mutex;
  std::string reason DATUM_GUARDED_BY(mutex);
};

namespace {

constexpr unsigned register_bar = 0;
constexpr unsigned aperture_bar = 2;

/// A capability and the range that the driver can handle.
struct Checked {
  const char* name;
  std::uint64_t value;
  std::uint64_t min;
  std::uint64_t max;
};

Error nonsense(std::string sentence) {
  return make_error(
      ErrorCode::unsupported_version, "the board's description makes no sense: " + std::move(sentence),
      "board and driver must be of one interface version; docs/registers.md has what the registers mean");
}

Status check_ranges(std::span<const Checked> all) {
  for (const Checked& one : all) {
    if (one.value < one.min || one.value > one.max) {
      return nonsense(fmt::format("{} is {}, expected {} to {}", one.name, one.value, one.min, one.max));
    }
  }
  return {};
}

}  // namespace

Board::Board() : loss_(std::make_unique<Loss>()) {}

Board::~Board() = default;

Result<std::unique_ptr<Board>> Board::open(std::string_view address) {
  Result<std::unique_ptr<board::PcieFunction>> function = open_function(address);
  if (!function) {
    return std::move(function).error();
  }
  return adopt(std::move(*function));
}

Result<std::unique_ptr<Board>> Board::adopt(std::unique_ptr<board::PcieFunction> function) {
  std::unique_ptr<Board> board(new Board);
  if (trace::on()) {
    function = traced(std::move(function));
  }
  board->function_ = std::move(function);
  if (Status found = board->find_bars(); !found) {
    return std::move(found).error();
  }
  if (Status recognised = board->recognise(); !recognised) {
    return std::move(recognised).error();
  }
  Result<bool> memory_is_clean = board->reset_registers();
  if (!memory_is_clean) {
    return std::move(memory_is_clean).error();
  }
  board->capabilities_.memory_clean = *memory_is_clean;
  if (Status read = board->read_capabilities(board->capabilities_); !read) {
    return std::move(read).error();
  }
  board->set_park_recheck();
  board->start_scrubber();
  Board* self = board.get();
  board->mmu_ =
      std::make_unique<Mmu>(*board, *board->registers_, *board->aperture_, board->capabilities_.space_count,
                            board->capabilities_.aperture_fixed_bytes);
  board->hub_ = std::make_unique<InterruptHub>(*board->function_, [self] { return self->health(); });
  return board;
}

Status Board::find_bars() {
  const std::string& address = function_->info().address;
  for (const unsigned index : {register_bar, aperture_bar}) {
    Result<board::Bar*> bar = function_->bar(index);
    if (!bar) {
      return make_error(bar.error().code, fmt::format("{}: BAR{}: {}", address, index, bar.error().message),
                        bar.error().hint);
    }
    (index == register_bar ? registers_ : aperture_) = *bar;
  }
  if (registers_->size_bytes() < hw::bar0_bytes) {
    return nonsense(
        fmt::format("BAR0 has {} bytes, the registers take {}", registers_->size_bytes(), hw::bar0_bytes));
  }
  return {};
}

Status Board::recognise() {
  const std::string& address = function_->info().address;
  const std::uint32_t found = read32(hw::magic);
  if (found == ~0U) {
    return make_error(ErrorCode::device_lost,
                      address + ": the board does not answer (registers read all ones)",
                      "check power, link and reset of the card; 'datum doctor' looks at the rest");
  }
  if (found != hw::magic_value) {
    return make_error(ErrorCode::unsupported_version,
                      fmt::format("{}: no Datum board: MAGIC reads {:#010x}, expected {:#010x}", address,
                                  found, hw::magic_value));
  }
  const hw::VersionRegister version{read32(hw::version)};
  if (version.major() != hw::version_major) {
    return make_error(ErrorCode::unsupported_version,
                      fmt::format("{}: register interface {}.{}, this driver speaks {}.x", address,
                                  version.major(), version.minor(), hw::version_major),
                      "use board and driver of the same release");
  }
  return {};
}

/// Whether memory reads as zero.
Result<bool> Board::reset_registers() {
  write32(hw::reset, hw::ResetRegister{}.set_busy(true).raw);
  std::uint32_t value = 0;
  const bool done = wait_for_register(*function_, limits::reset_ns, [&] {
    value = read32(hw::reset);
    return value == ~0U || !hw::ResetRegister{value}.busy();
  });
  if (!done || value == ~0U) {
    return make_error(ErrorCode::device_lost, "the board did not come out of reset");
  }
  const bool ready = wait_for_register(*function_, limits::memory_ready_ns, [&] {
    value = read32(hw::status);
    return value == ~0U || hw::StatusRegister{value}.memory_ready();
  });
  if (!ready || value == ~0U) {
    return make_error(ErrorCode::device_lost, "the board's memory did not become ready after reset");
  }
  return hw::StatusRegister{value}.memory_clean();
}

Status Board::read_capabilities(BoardCapabilities& c) {
  c.version = read32(hw::version);
  c.build_id = read32(hw::build_id);
  c.ring_count = read32(hw::ring_count);
  c.channel_count = read32(hw::channel_count);
  c.space_count = read32(hw::space_count);
  c.memory_bytes = read64(hw::memory_bytes);
  c.onchip_bytes = read64(hw::onchip_bytes);
  c.aperture_fixed_bytes = read64(hw::aperture_fixed_bytes);
  c.aperture_window_bytes = read64(hw::aperture_window_bytes);
  c.clock_hz = read64(hw::clock_hz);
  c.timer_hz = read64(hw::timer_hz);
  c.ecc = hw::McStatusRegister{read32(hw::mc_status)}.ecc();
  const std::uint64_t vectors = read32(hw::vector_count);
  const std::uint64_t needed_vectors = c.ring_count + 2ULL;
  const std::uint64_t aperture = aperture_->size_bytes();

  const Checked ranges[] = {
      {"RING_COUNT", c.ring_count, limits::min_rings, limits::max_rings},
      {"CHANNEL_COUNT", c.channel_count, 1, limits::max_channels},
      {"SPACE_COUNT", c.space_count, limits::min_spaces, limits::max_spaces},
      {"MEMORY_BYTES", c.memory_bytes, limits::min_memory_bytes, limits::max_memory_bytes},
      {"ONCHIP_BYTES", c.onchip_bytes, 0, limits::max_memory_bytes},
      {"APERTURE_FIXED_BYTES", c.aperture_fixed_bytes, limits::min_aperture_fixed_bytes, aperture},
      {"CLOCK_HZ", c.clock_hz, limits::min_clock_hz, limits::max_clock_hz},
      {"TIMER_HZ", c.timer_hz, limits::min_clock_hz, limits::max_clock_hz},
      {"VECTOR_COUNT", vectors, needed_vectors, needed_vectors},
  };
  if (Status inside = check_ranges(ranges); !inside) {
    return read32(hw::magic) == ~0U
               ? Status(make_error(ErrorCode::device_lost, "the board went away while it was opened"))
               : inside;
  }
  if (c.aperture_window_bytes > aperture - c.aperture_fixed_bytes) {
    return nonsense(fmt::format("APERTURE_WINDOW_BYTES is {}, but BAR2 has {} bytes behind the fixed part",
                                c.aperture_window_bytes, aperture - c.aperture_fixed_bytes));
  }
  if (!is_aligned(c.memory_bytes | c.onchip_bytes | c.aperture_fixed_bytes, small_page_bytes)) {
    return nonsense("memory or aperture sizes are not multiples of 4096");
  }
  if (function_->info().vectors < vectors) {
    return nonsense(fmt::format("VECTOR_COUNT is {}, but the function has {} interrupt vectors", vectors,
                                function_->info().vectors));
  }
  return {};
}

void Board::set_park_recheck() {
  const std::uint64_t ns = limits::scaled(limits::park_recheck_ns, function_->clock());
  write32(hw::park_recheck_ns, static_cast<std::uint32_t>(std::min<std::uint64_t>(ns, UINT32_MAX)));
}

void Board::start_scrubber() {
  if (!capabilities_.ecc) {
    return;
  }
  const std::uint64_t columns = capabilities_.memory_bytes / limits::scrub_bytes;
  const std::uint64_t cycles = capabilities_.clock_hz * limits::scrub_pass_s / columns;
  write32(hw::scrub_interval, static_cast<std::uint32_t>(std::clamp<std::uint64_t>(cycles, 1, UINT32_MAX)));
}

std::uint64_t Board::read_timer() noexcept { return read64(hw::timer); }

bool Board::is_lost() const noexcept { return loss_->lost.load(std::memory_order_acquire); }

Status Board::health() {
  if (!is_lost()) {
    if (Status state = function_->health(); !state) {
      declare_lost(state.error().message);
    } else if (read32(hw::magic) == ~0U) {
      declare_lost("the board does not answer (registers read all ones)");
    }
  }
  const ScopedLock lock(loss_->mutex);
  if (!loss_->lost.load(std::memory_order_relaxed)) {
    return {};
  }
  return make_error(ErrorCode::device_lost, loss_->reason,
                    "reset the board (zesDeviceReset), then create the context anew");
}

void Board::declare_lost(std::string reason) {
  const ScopedLock lock(loss_->mutex);
  if (!loss_->lost.load(std::memory_order_relaxed)) {
    loss_->reason = std::move(reason);
    loss_->lost.store(true, std::memory_order_release);
  }
}

void Board::give_up(std::string reason) {
  if (!is_lost()) {
    write64(hw::scratch, board::watchdog_mark);
  }
  declare_lost(std::move(reason));
}

Status Board::reset() {
  const bool was_lost = is_lost();
  declare_lost("the board is being reset");
  Status done = function_->reset(board::ResetKind::function);
  if (!done && done.error().code == ErrorCode::unsupported_feature) {
    done = function_->reset(board::ResetKind::hot);
  }
  const bool reached = done || done.error().code != ErrorCode::unsupported_feature;
  if (done) {
    done = come_back();
  }
  if (!done) {
    const ScopedLock lock(loss_->mutex);
    loss_->lost.store(was_lost || reached, std::memory_order_release);
    loss_->reason = done.error().message;
  }
  return done;
}

/// What adopt() does with a board that it does not know yet.
Status Board::come_back() {
  if (Status recognised = recognise(); !recognised) {
    return recognised;
  }
  if (Result<bool> registers = reset_registers(); !registers) {
    return std::move(registers).error();
  }
  BoardCapabilities now;
  if (Status read = read_capabilities(now); !read) {
    return read;
  }
  now.memory_clean = capabilities_.memory_clean;  // a board may be clean at power-on only
  if (!(now == capabilities_)) {
    return make_error(ErrorCode::device_lost, "after its reset the board is another one than before",
                      "end the process and start it anew");
  }
  set_park_recheck();
  start_scrubber();
  return {};
}

void Board::begin_next_life() {
  const ScopedLock lock(loss_->mutex);
  loss_->life.fetch_add(1, std::memory_order_release);
  loss_->reason.clear();
  loss_->lost.store(false, std::memory_order_release);
}

std::uint64_t Board::life() const noexcept { return loss_->life.load(std::memory_order_acquire); }

}  // namespace datum
