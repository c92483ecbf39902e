#include "cosim/board_run.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <exception>
#include <memory>
#include <stdexcept>
#include <vector>

#include <fmt/format.h>

#include "cosim/board_driver.hpp"
#include "cosim/random.hpp"

namespace datum::cosim {
namespace {

constexpr unsigned program_space = 1;
constexpr std::uint64_t first_va = 0x7e00'0000'0000;
constexpr std::uint64_t buffer_va_bytes = 1ULL << 21U;
constexpr std::uint64_t event_va = 0x7f00'0000'0000;
constexpr std::uint64_t staging_va = 0x7f10'0000'0000;
constexpr std::uint64_t staging_bytes = 1ULL << 16U;

struct Failed : std::runtime_error {
  using std::runtime_error::runtime_error;
};

/// One buffer of the program on the board.
struct PlacedBuffer {
  const char* memory = "device";
  std::uint64_t bytes = 0;
  std::uint64_t va = 0;
  std::uint64_t address = 0;         ///< of its first byte: in the board's memory, or an IOVA
  std::uint64_t offset = 0;          ///< of its first byte in its page
  std::unique_ptr<HostBuffer> host;  ///< host memory alone
};

/// A board made ready for one program: memory placed and filled, a ring for each queue.
class Stage {
 public:
  Stage(const Program& program, board::PcieFunction& function) : program_(program) {
    reset(function);
    driver_ = std::make_unique<BoardDriver>(function);
    events_ = driver_->host(small_page_bytes);
    staging_ = driver_->host(staging_bytes);
    driver_->map_host(program_space, event_va, *events_);
    driver_->map_host(program_space, staging_va, *staging_);
    ring_count_ = driver_->registers().read32(hw::ring_count);
    mover_ = std::make_unique<Ring>(*driver_, ring_count_ - 1, 4, std::vector{program_space});
    for (unsigned index = 0; index < program.buffers.size(); ++index) {
      place(index);
    }
  }

  [[nodiscard]] BoardDriver& driver() noexcept { return *driver_; }

  [[nodiscard]] const PlacedBuffer& buffer(unsigned index) const { return buffers_[index]; }

  void signal(std::uint32_t event) { events_->set_word(event * sizeof(std::uint64_t), 1); }

  [[nodiscard]] static std::uint64_t address_of_event(std::uint32_t event) {
    return event_va + event * sizeof(std::uint64_t);
  }

  std::vector<std::uint8_t> contents(unsigned index) {
    const PlacedBuffer& placed = buffers_[index];
    std::vector<std::uint8_t> bytes(placed.bytes);
    if (placed.host != nullptr) {
      std::memcpy(bytes.data(), placed.host->data() + placed.offset, bytes.size());
    } else if (is_onchip(index)) {
      move(placed.va, staging_va, bytes.size());
      std::memcpy(bytes.data(), staging_->data(), bytes.size());
    } else {
      driver_->read_device(placed.address, std::as_writable_bytes(std::span{bytes}));
    }
    return bytes;
  }

  /// Gives a ring the descriptor and waits for its end.
  void run(Ring& ring, const hw::Descriptor& descriptor) { wait(ring, ring.submit(descriptor)); }

  static void check(Ring& ring) {
    if (ring.state() == hw::RingState::faulted) {
      const auto info = ring.fault_info();
      throw Failed(fmt::format("ring {} faulted: status {}, reason {}, at address {:#x}", ring.number(),
                               hw::name_of(info.status()), hw::name_of(info.reason()), ring.fault_address()));
    }
  }

  void wait(Ring& ring, std::uint32_t sequence) {
    const bool ended = ring.wait_for(sequence);
    check(ring);
    if (!ended) {
      const Status health = driver_->function().health();
      throw Failed(health ? fmt::format("ring {} does not end: {} of {} descriptors were taken",
                                        ring.number(), ring.head(), ring.tail())
                          : health.error().message);
    }
  }

 private:
  static void reset(board::PcieFunction& function) {
    const auto bar = function.bar(0);
    if (!bar) {
      throw Failed(bar.error().message);
    }
    if (!function.health()) {  // it may have been lost by the program before
      if (const Status done = function.reset(board::ResetKind::function); !done) {
        throw Failed(done.error().message);
      }
    }
    BoardDriver driver(function);
    driver.registers().write32(hw::reset, hw::ResetRegister{}.set_busy(true).raw);
    const bool ready = driver.until([&] {
      return !hw::ResetRegister{driver.registers().read32(hw::reset)}.busy() &&
             hw::StatusRegister{driver.registers().read32(hw::status)}.memory_ready();
    });
    if (!ready) {
      const Status health = function.health();
      throw Failed(health ? "the board does not come out of reset" : health.error().message);
    }
  }

  [[nodiscard]] bool is_onchip(unsigned index) const {
    return program_.buffers[index].place == Place::onchip &&
           driver_->registers().read64(hw::onchip_bytes) != 0;
  }

  void move(std::uint64_t from, std::uint64_t to, std::uint64_t bytes) {
    run(*mover_, copy_descriptor(program_space, from, program_space, to, bytes));
  }

  void place(unsigned index) {
    const Buffer& wanted = program_.buffers[index];
    PlacedBuffer placed;
    placed.bytes = wanted.size_bytes;
    // Buffers begin anywhere in a page, as a program's do.
    placed.offset = Random(program_.seed * 61 + index).below(64) * (index % 2);
    const std::uint64_t whole = align_up(placed.offset + placed.bytes, small_page_bytes);
    const std::uint64_t page_va = first_va + index * buffer_va_bytes;
    placed.va = page_va + placed.offset;
    const std::vector<std::uint8_t> bytes = initial_bytes(program_, index);
    if (wanted.place == Place::device || (wanted.place == Place::onchip && !is_onchip(index))) {
      const std::uint64_t page = driver_->device_memory(whole);
      placed.address = page + placed.offset;
      driver_->map_device(program_space, page_va, page, whole);
      driver_->write_device(placed.address, std::as_bytes(std::span{bytes}));
    } else if (wanted.place == Place::onchip) {
      placed.memory = "on-chip";
      placed.address = next_onchip_ + placed.offset;
      driver_->map(
          program_space, page_va, whole,
          hw::Pte{}.set_valid(true).set_leaf(true).set_writable(true).set_ordinal(1).set_address_bytes(
              next_onchip_));
      next_onchip_ += whole;
      std::memcpy(staging_->data(), bytes.data(), bytes.size());
      move(staging_va, placed.va, bytes.size());
    } else {
      placed.memory = "host";
      placed.host = driver_->host(whole);
      placed.address = raw(placed.host->iova()) + placed.offset;
      driver_->map_host(program_space, page_va, *placed.host);
      std::memcpy(placed.host->data() + placed.offset, bytes.data(), bytes.size());
    }
    buffers_.push_back(std::move(placed));
  }

  const Program& program_;
  std::unique_ptr<BoardDriver> driver_;
  unsigned ring_count_ = 0;
  std::uint64_t next_onchip_ = 0;
  std::unique_ptr<HostBuffer> events_;
  std::unique_ptr<HostBuffer> staging_;
  std::vector<PlacedBuffer> buffers_;
  std::unique_ptr<Ring> mover_;
};

std::uint64_t first_byte(const Box& box) {
  return box.z * std::uint64_t{box.slice_pitch} + box.y * std::uint64_t{box.pitch} + box.x;
}

/// What the operation itself is, without what it waits for.
hw::Descriptor descriptor_of(const Stage& stage, const Operation& operation) {
  const std::uint64_t to = stage.buffer(operation.to.buffer).va + operation.to.offset;
  const std::uint64_t from = stage.buffer(operation.from.buffer).va + operation.from.offset;
  switch (operation.kind) {
  case Kind::copy:
    return copy_descriptor(program_space, from, program_space, to, operation.bytes);
  case Kind::fill: {
    std::array<std::uint64_t, 2> words{};
    std::memcpy(words.data(), operation.value.data(), operation.value.size());
    const auto code = static_cast<unsigned>(std::bit_width(operation.value.size()) - 1);
    return fill_descriptor(program_space, to, operation.bytes, code, words[0], words[1]);
  }
  case Kind::copy_region:
    return plain_descriptor(hw::Opcode::copy_region)
        .set_src_space(program_space)
        .set_dst_space(program_space)
        .set_src_address(from + first_byte(operation.from_box))
        .set_dst_address(to + first_byte(operation.to_box))
        .set_region_x_bytes(operation.extent.width)
        .set_region_rows(operation.extent.height)
        .set_region_planes(std::max(operation.extent.depth, 1U))
        .set_src_row_pitch(operation.from_box.pitch)
        .set_dst_row_pitch(operation.to_box.pitch)
        .set_src_slice_pitch(operation.from_box.slice_pitch)
        .set_dst_slice_pitch(operation.to_box.slice_pitch);
  case Kind::barrier:
    break;
  }
  return plain_descriptor(hw::Opcode::barrier);
}

/// All of a program, with everything that runs beside everything else.
class WholeRun {
 public:
  WholeRun(const Program& program, board::PcieFunction& function, ProgramWatch* watch)
      : program_(program), stage_(program, function), watch_(watch) {
    stage_.driver().watch_rings(watch);
    for (const Operation& operation : program.operations) {
      event_of_.push_back(operation.signals ? events_++ : 0);
      gate_of_.push_back(operation.gated ? events_++ : 0);
    }
  }

  Memory run() {
    make_rings();
    submit();
    open_gates();
    wait();
    Memory memory;
    for (unsigned index = 0; index < program_.buffers.size(); ++index) {
      memory.push_back(stage_.contents(index));
    }
    return memory;
  }

 private:
  void make_rings() {
    std::vector<std::size_t> slots(program_.queues.size(), 2);
    operations_.resize(program_.queues.size());
    for (unsigned index = 0; index < program_.operations.size(); ++index) {
      const Operation& operation = program_.operations[index];
      slots[operation.queue] += operation.waits.size() + 3;
      operations_[operation.queue].push_back(index);
    }
    for (unsigned queue = 0; queue < program_.queues.size(); ++queue) {
      const auto size_log2 = std::max(6U, static_cast<unsigned>(std::bit_width(slots[queue])));
      rings_.push_back(std::make_unique<Ring>(stage_.driver(), queue, size_log2, std::vector{program_space}));
    }
  }

  void push(unsigned index) {
    const Operation& operation = program_.operations[index];
    Ring& ring = *rings_[operation.queue];
    if (watch_ != nullptr) {
      watch_->begins(index);
    }
    const auto wait_for = [&](std::uint32_t event) {
      ring.push(wait_descriptor(program_space, Stage::address_of_event(event), hw::WaitCondition::equal, 1));
    };
    for (const unsigned earlier : operation.waits) {
      wait_for(event_of_[earlier]);
    }
    if (operation.gated) {
      wait_for(gate_of_[index]);
    }
    hw::Descriptor descriptor = descriptor_of(stage_, operation);
    if (operation.barrier_before || program_.queues[operation.queue] == QueueKind::in_order_lists) {
      descriptor.set_flag_fence(true);
    }
    ring.push(descriptor);
    if (operation.signals) {
      ring.push(write_value_descriptor(program_space, Stage::address_of_event(event_of_[index]), 1));
    }
  }

  /// Queues in a random order, an operation of an immediate queue or a list of another at a time.
  void submit() {
    Random random(program_.seed ^ 0x5ca1ab1eULL);
    std::vector<std::size_t> next(rings_.size(), 0);
    std::vector<unsigned> busy;
    for (unsigned queue = 0; queue < rings_.size(); ++queue) {
      busy.push_back(queue);
    }
    while (!busy.empty()) {
      const std::size_t pick = random.below(busy.size());
      const unsigned queue = busy[pick];
      const auto& mine = operations_[queue];
      bool more = next[queue] < mine.size();
      while (more) {
        push(mine[next[queue]++]);
        more = next[queue] < mine.size() && program_.queues[queue] != QueueKind::immediate &&
               !program_.operations[mine[next[queue]]].starts_list;
      }
      rings_[queue]->ring_doorbell();
      if (next[queue] >= mine.size()) {
        busy.erase(busy.begin() + static_cast<std::ptrdiff_t>(pick));
      }
    }
  }

  /// A ring that faulted signals nobody, so all are looked at together.
  void wait() {
    std::vector<std::uint32_t> last;
    for (const auto& ring : rings_) {
      last.push_back(ring->submit(plain_descriptor(hw::Opcode::barrier)));
    }
    static_cast<void>(stage_.driver().until([&] {
      bool all = true;
      for (std::size_t queue = 0; queue < rings_.size(); ++queue) {
        if (rings_[queue]->state() == hw::RingState::faulted) {
          return true;
        }
        all = all && rings_[queue]->record().sequence() == last[queue];
      }
      return all;
    }));
    for (const auto& ring : rings_) {
      Stage::check(*ring);
    }
    for (std::size_t queue = 0; queue < rings_.size(); ++queue) {
      stage_.wait(*rings_[queue], last[queue]);
    }
  }

  void open_gates() {
    for (unsigned index = 0; index < program_.operations.size(); ++index) {
      if (program_.operations[index].gated) {
        stage_.signal(gate_of_[index]);
      }
    }
    stage_.driver().registers().write32(hw::kick_all, 1);
  }

  const Program& program_;
  Stage stage_;
  ProgramWatch* watch_;
  std::uint32_t events_ = 0;
  std::vector<std::uint32_t> event_of_;
  std::vector<std::uint32_t> gate_of_;
  std::vector<std::vector<unsigned>> operations_;  ///< of each queue
  std::vector<std::unique_ptr<Ring>> rings_;
};

}  // namespace

BoardOutcome run_on_board(const Program& program, board::PcieFunction& function, ProgramWatch* watch) {
  BoardOutcome outcome;
  try {
    outcome.memory = WholeRun(program, function, watch).run();
  } catch (const std::exception& failed) {
    outcome.failure = failed.what();
  }
  return outcome;
}

std::optional<WrongPlace> first_wrong_operation(const Program& program, board::PcieFunction& function,
                                                ProgramWatch* watch) {
  Memory expected = initial_memory(program);
  WrongPlace place;
  try {
    Stage stage(program, function);
    stage.driver().watch_rings(watch);
    Ring ring(stage.driver(), 0, 4, {program_space});
    for (unsigned index = 0; index < program.operations.size(); ++index) {
      const Operation& operation = program.operations[index];
      if (watch != nullptr) {
        watch->begins(index);
      }
      place.operation = index;
      place.descriptor = descriptor_of(stage, operation);
      place.first_cycle = stage.driver().registers().read64(hw::cycles);
      stage.run(ring, place.descriptor);
      place.last_cycle = stage.driver().registers().read64(hw::cycles);
      run_operation(expected, operation);
      const unsigned buffer = operation.to.buffer;
      if (const auto found = first_difference({expected[buffer]}, {stage.contents(buffer)})) {
        place.difference = *found;
        place.difference.spot.buffer = buffer;
        place.memory = stage.buffer(buffer).memory;
        place.address = stage.buffer(buffer).address + found->spot.offset;
        return place;
      }
    }
  } catch (const std::exception&) {
    return std::nullopt;
  }
  return std::nullopt;
}

}  // namespace datum::cosim
