#include "sim/board/sim_function.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <poll.h>
#include <system_error>
#include <thread>
#include <utility>

#include <fmt/format.h>

#include <datum/hw/registers.hpp>

#include "sim/board/processor_pause.hpp"

namespace datum::sim {

namespace {

constexpr std::uint64_t message_bar_bytes = 0x2000;

/// How long a board keeps its turn: short enough that a caller hardly notices, long enough that locking is no
/// cost.
constexpr std::uint64_t model_slice_cycles = 8192;
constexpr std::uint64_t rtl_slice_cycles = 128;
/// Step-locked, between two looks at interrupt, wake descriptor and deadline.
constexpr std::uint64_t step_cycles = 256;
/// Board time that passes for nothing when a step-locked caller polls or waits on a board that has nothing to
/// do, so that deadlines come. A board with parked rings is given the time after which it looks at their
/// words again.
constexpr std::uint64_t idle_skip_ns = 10'000;
constexpr std::uint64_t parked_skip_ns = 1'000'000;
/// Enough for every parked ring to look at its word and park again, so that a caller finds the board
/// quiescent afterwards.
constexpr std::uint64_t parked_look_cycles = 65536;
/// How often a vector is looked at for which there is no descriptor.
constexpr std::uint64_t poll_interval_ns = 1'000'000;
/// RTL runs some hundred times slower than a card.
constexpr unsigned rtl_wait_scale = 50;

bool readable(int fd) {
  pollfd entry{fd, POLLIN, 0};
  return fd >= 0 && ::poll(&entry, 1, 0) > 0;
}

/// What the board's thread does again and again.
Activity slice(Board& board, std::uint64_t cycles) {
  Activity activity;
  bool waits = false;
  {
    const Turn::Behind turn(board.turn);
    activity = board.run(cycles);
    waits = board.host.take_waits();
  }
  if (waits) {
    std::this_thread::yield();  // the answer comes from another thread, and another process
  }
  return activity;
}

board::FunctionInfo describe(std::string address, const Board& board, const BoardNumber& number,
                             std::uint64_t aperture_bytes) {
  board::FunctionInfo info;
  info.address = std::move(address);
  if (!board.options.name.empty()) {
    info.name = fmt::format("{} (Verilator)", board.options.name);
  } else {
    info.name = board.options.scheme == Scheme::rtl ? "Datum RTL board (Verilator)" : "Datum golden model";
  }
  info.pci = number.pci_address();
  info.vendor_id = board.options.vendor_id;
  info.device_id = board.options.device_id;
  info.bars[0].size_bytes = hw::bar0_bytes;
  info.bars[2].size_bytes = aperture_bytes;
  info.bars[4].size_bytes = message_bar_bytes;
  info.vectors = board.interrupts.vectors();
  return info;
}

board::FunctionLimits limits_of(const Board& board) {
  board::FunctionLimits limits;
  limits.iova_ranges = board.iommu.ranges();
  limits.granule_bytes = small_page_bytes;
  limits.max_mappings = board.options.max_mappings;
  limits.max_locked_bytes = board.options.max_locked_bytes;
  limits.can_export.memfd = true;
  limits.exportable_memories = 1;  // on-chip memory is inside the engine
  limits.exports_end = true;
  limits.can_import = {.memfd = true, .dma_buf = true};
  limits.shareable_between_processes = true;
  return limits;
}

}  // namespace

SimFunction::SimFunction(std::string address, std::unique_ptr<Board> board)
    : board_(std::move(board)), registers_(*board_, [this] { wake(); }), aperture_(*board_) {
  info_ = describe(std::move(address), *board_, number_, aperture_.size_bytes());
  limits_ = limits_of(*board_);
}

Result<std::unique_ptr<SimFunction>> SimFunction::create(std::string address, const BoardOptions& options) {
  auto board = Board::create(options);
  if (!board) {
    return std::move(board).error();
  }
  std::unique_ptr<SimFunction> function(new SimFunction(std::move(address), std::move(board).value()));
  if (options.step_locked) {
    return function;
  }
  const auto cycles = options.scheme == Scheme::rtl ? rtl_slice_cycles : model_slice_cycles;
  try {
    function->thread_ =
        std::make_unique<BoardThread>([of = function->board_.get(), cycles] { return slice(*of, cycles); });
  } catch (const std::system_error& error) {
    return make_error(ErrorCode::out_of_host_memory,
                      fmt::format("no thread to be had for the board: {}", error.code().message()),
                      "raise the limit of processes and threads (ulimit -u)");
  }
  return function;
}

SimFunction::~SimFunction() = default;

void SimFunction::wake() noexcept {
  if (thread_ != nullptr) {
    thread_->wake();
  }
}

Error SimFunction::lost_error() const {
  return make_error(ErrorCode::device_lost,
                    fmt::format("board {} is lost: {}", info_.address, board_->lost()));
}

Result<board::Bar*> SimFunction::bar(unsigned index) {
  switch (index) {
  case 0:
    return &registers_;
  case 2:
    return &aperture_;
  case 4:
    return make_error(ErrorCode::not_available, "BAR4 holds the interrupt table, which belongs to the host");
  default:
    return make_error(ErrorCode::not_available,
                      fmt::format("the board has no BAR{}; it has 0, 2 and 4", index));
  }
}

Status SimFunction::check_map(Iova iova, std::uint64_t bytes) {
  const Turn::Scope turn(board_->turn);
  return board_->iommu.check(iova, bytes);
}

Status SimFunction::map(Iova iova, Result<HostRange> range, std::uint64_t bytes, board::DmaAccess access) {
  if (!range) {
    return std::move(range).error();
  }
  const Turn::Scope turn(board_->turn);
  // Pages were brought in without the turn, so somebody may have mapped something meanwhile.
  if (auto status = board_->iommu.check(iova, bytes); !status) {
    return status;
  }
  board_->iommu.map(iova, std::move(range).value(), access);
  return {};
}

Status SimFunction::dma_map(Iova iova, std::span<std::byte> host, board::DmaAccess access) {
  if (!is_aligned(reinterpret_cast<std::uintptr_t>(host.data()), small_page_bytes)) {
    return make_error(ErrorCode::invalid_argument, fmt::format("host memory at {} is not aligned to {} bytes",
                                                               fmt::ptr(host.data()), small_page_bytes));
  }
  if (auto status = check_map(iova, host.size()); !status) {
    return status;
  }
  return map(iova, HostRange::of_caller(host, access), host.size(), access);
}

Status SimFunction::dma_map_fd(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                               board::DmaAccess access) {
  if (!is_aligned(offset, small_page_bytes)) {
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("offset {:#x} of a descriptor is not aligned to {} bytes", offset, small_page_bytes));
  }
  if (auto status = check_map(iova, bytes); !status) {
    return status;
  }
  return map(iova, HostRange::of_descriptor(fd, offset, bytes, access), bytes, access);
}

Status SimFunction::dma_unmap(Iova iova, std::uint64_t bytes) {
  // Every access is looked up when it is made, by who has the turn: once we have had it, none can still be
  // under way.
  const Turn::Scope turn(board_->turn);
  return board_->iommu.unmap(iova, bytes);
}

Result<int> SimFunction::interrupt_fd(unsigned vector) { return board_->interrupts.descriptor(vector); }

Result<board::WaitOutcome> SimFunction::wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) {
  if (vector != board::any_vector && vector >= info_.vectors) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("vector {} of a board with {}", vector, info_.vectors));
  }
  return board_->options.step_locked ? wait_stepping(vector, wake_fd, deadline_ns)
                                     : wait_running(vector, wake_fd, deadline_ns);
}

/// -1: the process has none left for this vector, which has to be looked at in intervals then.
int SimFunction::descriptor_to_wait_for(unsigned vector) {
  if (vector == board::any_vector) {
    return board_->interrupts.any_descriptor();
  }
  const auto own = board_->interrupts.descriptor(vector);
  return own ? *own : -1;
}

Result<board::WaitOutcome> SimFunction::wait_running(unsigned vector, int wake_fd,
                                                     std::uint64_t deadline_ns) {
  const int event = descriptor_to_wait_for(vector);
  for (;;) {
    if (vector == board::any_vector) {
      static_cast<void>(drain_eventfd(event));  // before the look, so that a later one is seen
    }
    if (board_->interrupts.consume(vector)) {
      return board::WaitOutcome::interrupt;
    }
    if (board_->is_lost()) {
      const Turn::Scope turn(board_->turn);
      if (board_->is_lost()) {
        return lost_error();
      }
    }
    const auto now = Timebase::host_now_ns();
    const auto left_ns = deadline_ns > now ? deadline_ns - now : 0;
    const auto sleep_ns = event < 0 ? std::min(left_ns, poll_interval_ns) : left_ns;
    const timespec timeout{static_cast<time_t>(sleep_ns / 1'000'000'000U),
                           static_cast<long>(sleep_ns % 1'000'000'000U)};
    std::array<pollfd, 3> fds{
        {{event, POLLIN, 0}, {board_->lost_descriptor(), POLLIN, 0}, {wake_fd, POLLIN, 0}}};
    const bool for_ever = deadline_ns == board::no_deadline && event >= 0;
    const auto ready = ::ppoll(fds.data(), fds.size(), for_ever ? nullptr : &timeout, nullptr);
    if (ready < 0 && errno != EINTR) {
      return Error{ErrorCode::unknown, errno, "waiting for an interrupt failed", {}};
    }
    const auto closed = [](const pollfd& entry) { return (entry.revents & POLLNVAL) != 0; };
    if (ready > 0 && std::any_of(fds.begin(), fds.end(), closed)) {
      return Error{ErrorCode::unknown, EBADF, "somebody else closed a descriptor of the board", {}};
    }
    if (ready > 0 && fds[0].revents == 0 && fds[2].revents != 0) {
      return board::WaitOutcome::woken;
    }
    if ((ready == 0 && sleep_ns == left_ns) || left_ns == 0) {
      return ready > 0 && board_->interrupts.consume(vector) ? board::WaitOutcome::interrupt
                                                             : board::WaitOutcome::deadline;
    }
  }
}

/// The clock of a board that has nothing to do stands still; time is passed in its place. True if the board
/// has something to do then.
bool SimFunction::skip_idle_time(const Activity& activity, std::uint64_t deadline_ns) {
  const auto now = board_->now_ns();
  const auto wanted = activity.parked ? parked_skip_ns : idle_skip_ns;
  board_->timebase.skip(std::min(wanted, deadline_ns > now ? deadline_ns - now : 0));
  return activity.parked && !board_->run(parked_look_cycles).quiescent;
}

Result<board::WaitOutcome> SimFunction::wait_stepping(unsigned vector, int wake_fd,
                                                      std::uint64_t deadline_ns) {
  for (;;) {
    if (board_->interrupts.consume(vector)) {
      return board::WaitOutcome::interrupt;
    }
    if (readable(wake_fd)) {
      return board::WaitOutcome::woken;
    }
    const Turn::Scope turn(board_->turn);
    if (board_->is_lost()) {
      return lost_error();
    }
    if (board_->now_ns() >= deadline_ns) {
      return board::WaitOutcome::deadline;
    }
    const auto activity = board_->run(step_cycles);
    if (!activity.quiescent) {
      continue;
    }
    const bool goes_on = skip_idle_time(activity, deadline_ns);
    if (board_->interrupts.consume(vector)) {
      return board::WaitOutcome::interrupt;
    }
    if (board_->is_lost()) {
      return lost_error();
    }
    if (!goes_on) {
      return board_->now_ns() >= deadline_ns ? board::WaitOutcome::deadline : board::WaitOutcome::quiescent;
    }
  }
}

board::Clock SimFunction::clock() noexcept {
  if (!board_->options.step_locked) {
    return {Timebase::host_now_ns(), board_->options.scheme == Scheme::rtl ? rtl_wait_scale : 1};
  }
  const Turn::Scope turn(board_->turn);
  return {board_->now_ns(), 1};
}

Status SimFunction::reset(board::ResetKind) {
  {
    const Turn::Scope turn(board_->turn);
    board_->power_on();
    if (board_->is_lost()) {
      return lost_error();
    }
  }
  wake();
  return {};
}

Status SimFunction::health() {
  const Turn::Scope turn(board_->turn);
  if (board_->is_lost()) {
    return lost_error();
  }
  return {};
}

std::vector<board::DmaFault> SimFunction::take_dma_faults() {
  const Turn::Scope turn(board_->turn);
  return board_->iommu.take_faults();
}

Result<UniqueFd> SimFunction::export_memory(std::span<const board::DeviceRange> ranges,
                                            std::string_view label) {
  for (const auto& range : ranges) {
    if (range.first.ordinal != 0) {
      return make_error(
          ErrorCode::unsupported_feature,
          fmt::format("memory {} of the board cannot be exported, only memory 0", range.first.ordinal));
    }
  }
  // With the turn no access is under way: the board meets its pages in one place or in the other.
  const Turn::Scope turn(board_->turn);
  return board_->dram.export_ranges(ranges, label);
}

Status SimFunction::end_export(std::span<const board::DeviceRange> ranges) {
  const Turn::Scope turn(board_->turn);
  return board_->dram.end_export(ranges);
}

void SimFunction::relax() noexcept {
  if (!board_->options.step_locked) {
    processor_pause();
    return;
  }
  const Turn::Scope turn(board_->turn);
  const auto activity = board_->run(step_cycles);
  if (activity.quiescent) {
    static_cast<void>(skip_idle_time(activity, board::no_deadline));
  }
}

std::uint64_t SimFunction::transaction_hash() {
  const Turn::Scope turn(board_->turn);
  return board_->hash.value();
}

std::uint64_t SimFunction::cycle() {
  const Turn::Scope turn(board_->turn);
  return board_->engine->cycle();
}

void SimFunction::lose(std::string reason) {
  const Turn::Scope turn(board_->turn);
  board_->lose(std::move(reason));
}

std::uint64_t SimFunction::resident_memory_bytes() {
  const Turn::Scope turn(board_->turn);
  return board_->dram.resident_bytes();
}

}  // namespace datum::sim
