#include "driver/device/ring.hpp"

#include <atomic>

#include <fmt/format.h>

#include "driver/device/board.hpp"
#include "driver/device/doorbell_fence.hpp"
#include "driver/device/register_wait.hpp"
#include "driver/device/traced_function.hpp"
#include "driver/trace/trace.hpp"

namespace datum {

namespace {

/// Bytes that a descriptor moves; 0 for those that move none.
std::uint64_t moved_bytes(const hw::Descriptor& descriptor) noexcept {
  switch (descriptor.opcode()) {
  case hw::Opcode::copy:
  case hw::Opcode::fill:
    return descriptor.bytes();
  case hw::Opcode::copy_region:
    return std::uint64_t{descriptor.region_x_bytes()} * descriptor.region_rows() * descriptor.region_planes();
  default:
    return 0;
  }
}

void note_ring(Board& board, unsigned ring, trace::Kind kind, std::initializer_list<std::uint64_t> words,
               std::uint64_t call = 0) noexcept {
  trace::note(kind, "ring", trace_number(board.function()), static_cast<std::uint16_t>(ring), words, call);
}

void note_descriptor(Board& board, unsigned ring, const hw::Descriptor& descriptor) noexcept {
  const bool copies =
      descriptor.opcode() == hw::Opcode::copy || descriptor.opcode() == hw::Opcode::copy_region;
  note_ring(board, ring, trace::Kind::descriptor,
            {descriptor.sequence(), static_cast<std::uint64_t>(descriptor.opcode()),
             descriptor.flag_interrupt() ? trace::descriptor_interrupts : 0, moved_bytes(descriptor),
             copies ? descriptor.src_address() : 0, descriptor.dst_address()},
            trace::current_call());
}

}  // namespace

bool SpaceSet::contains(unsigned space) const noexcept {
  for (unsigned slot = 0; slot < count_; ++slot) {
    if (spaces_[slot] == space) {
      return true;
    }
  }
  return false;
}

bool SpaceSet::add(unsigned space) noexcept {
  if (contains(space)) {
    return true;
  }
  if (count_ == capacity) {
    return false;
  }
  spaces_[count_++] = static_cast<std::uint16_t>(space);
  return true;
}

std::uint64_t SpaceSet::packed() const noexcept {
  constexpr std::uint64_t valid = 0x8000;
  std::uint64_t value = 0;
  for (unsigned slot = 0; slot < count_; ++slot) {
    value |= (valid | spaces_[slot]) << (16U * slot);
  }
  return value;
}

Ring::Ring(Board& board, unsigned index, const RingMemory& memory)
    : board_(board), index_(index), memory_(memory), kept_(std::size_t{1} << memory.size_log2) {}

Status Ring::start(const SpaceSet& spaces) {
  // A thread that did not know yet of a reset may have started it behind the reset.
  if (board_.read32(hw::ring_state(index_)) != static_cast<std::uint32_t>(hw::RingState::disabled)) {
    if (Status disabled = disable(); !disabled) {
      return disabled;
    }
  }
  for (unsigned word = 0; word < 8; ++word) {
    std::atomic_ref(memory_.record[word]).store(0, std::memory_order_relaxed);
  }
  spaces_ = spaces;
  filled_ = rung_ = completed_ = 0;
  last_record_ = 0;
  faulted_ = false;
  board_.write64(hw::ring_base(index_), raw(memory_.slots_iova));
  board_.write64(hw::ring_completion(index_), raw(memory_.record_iova));
  board_.write64(hw::ring_spaces(index_), spaces.packed());
  board_.write32(hw::ring_size_log2(index_), memory_.size_log2);
  board_.write32(hw::ring_control(index_), hw::RingControlRegister{}.set_enable(true).raw);
  if (board_.read32(hw::ring_control(index_)) == ~0U) {
    return board_.health();
  }
  running_ = true;
  if (trace::on()) {
    note_ring(board_, index_, trace::Kind::ring_start, {});
  }
  return {};
}

Status Ring::stop() {
  if (!running_) {
    return {};
  }
  running_ = false;
  return board_.is_lost() ? board_.health() : disable();
}

Status Ring::disable() {
  board_.write32(hw::ring_control(index_), 0);
  std::uint32_t state = 0;
  const bool stopped = wait_for_register(board_.function(), limits::ring_stop_ns, [&] {
    state = board_.read32(hw::ring_state(index_));
    return state == ~0U || state == static_cast<std::uint32_t>(hw::RingState::disabled);
  });
  if (!stopped) {
    board_.give_up(fmt::format("ring {} did not stop (state {})", index_, state));
  }
  return stopped && state != ~0U ? Status{} : board_.health();
}

std::uint32_t Ring::put(const hw::Descriptor& descriptor) noexcept {
  const std::uint32_t place = filled_ & (size() - 1);
  hw::Descriptor& kept = kept_[place];
  kept = descriptor;
  ++filled_;
  kept.set_sequence(filled_);
  memory_.slots[place] = kept;
  if (trace::on()) {
    note_descriptor(board_, index_, kept);
  }
  return filled_;
}

void Ring::ring_doorbell() noexcept {
  if (rung_ == filled_) {
    return;
  }
  rung_ = filled_;
  doorbell_fence();
  if (trace::on()) {
    note_counters(board_.function());
    note_ring(board_, index_, trace::Kind::doorbell, {rung_});
  }
  board_.write32(hw::ring_tail(index_), rung_);
}

void Ring::kick() noexcept { board_.write32(hw::ring_kick(index_), 1); }

std::optional<RingFault> Ring::poll() {
  if (!running_ || faulted_) {
    return std::nullopt;
  }
  // One word holds sequence, status and reason, and the board writes the record at once: the load is
  // consistent.
  const std::uint64_t word = std::atomic_ref(memory_.record[0]).load(std::memory_order_acquire);
  if (word == last_record_) {
    return std::nullopt;
  }
  last_record_ = word;
  hw::CompletionRecord record;
  record.words[0] = word;
  const std::uint32_t sequence = record.sequence();
  // Within (completed, rung], or at completed for a fault of nothing new; differences because the numbers
  // wrap.
  const std::uint32_t ahead = sequence - completed_;
  const std::uint32_t outstanding = rung_ - completed_;
  if (record.ring() != index_ || ahead > outstanding) {
    faulted_ = true;
    return contradiction(fmt::format(
        "the board reported the end of descriptor {} of ring {} in the record of ring {}, where {} to {} "
        "were outstanding",
        sequence, record.ring(), index_, completed_ + 1, rung_));
  }
  if (trace::on()) {
    note_ring(board_, index_, trace::Kind::completion,
              {sequence, static_cast<std::uint64_t>(record.status()),
               std::atomic_ref(memory_.record[1]).load(std::memory_order_relaxed),
               std::atomic_ref(memory_.record[4]).load(std::memory_order_relaxed)});
    note_counters(board_.function());
  }
  if (record.status() == hw::Status::ok) {
    completed_ = sequence;
    return std::nullopt;
  }
  if (ahead == 0) {
    faulted_ = true;
    return contradiction(
        fmt::format("the board reported the failure of descriptor {} of ring {}, which had ended well",
                    sequence, index_));
  }
  faulted_ = true;
  completed_ = sequence - 1;
  RingFault fault = read_fault(record.status(), record.reason());
  fault.sequence = sequence;
  return fault;
}

std::optional<RingFault> Ring::poll_registers() {
  if (std::optional<RingFault> fault = poll(); fault || !running_ || faulted_) {
    return fault;
  }
  if (board_.read32(hw::ring_state(index_)) != static_cast<std::uint32_t>(hw::RingState::faulted)) {
    return std::nullopt;
  }
  // The record may have arrived between the two looks.
  if (std::optional<RingFault> fault = poll(); fault) {
    return fault;
  }
  const hw::RingFaultInfoRegister info{board_.read32(hw::ring_fault_info(index_))};
  const std::uint32_t sequence = board_.read32(hw::ring_fault_sequence(index_));
  faulted_ = true;
  RingFault fault = read_fault(info.status(), info.reason());
  const std::uint32_t ahead = sequence - completed_;
  // Without a record it is unknown what ended well before; the oldest outstanding one is taken as failed
  // where the number makes no sense.
  fault.sequence = ahead >= 1 && ahead <= rung_ - completed_ ? sequence : completed_ + 1;
  if (info.reason() != hw::FaultReason::completion_write) {
    completed_ = fault.sequence - 1;
  }
  return fault;
}

RingFault Ring::read_fault(hw::Status status, hw::FaultReason reason) const {
  RingFault fault;
  const hw::RingFaultInfoRegister info{board_.read32(hw::ring_fault_info(index_))};
  fault.status = status;
  fault.reason = reason;
  fault.write = info.write();
  fault.space = info.space();
  fault.address = board_.read64(hw::ring_fault_address(index_));
  return fault;
}

RingFault Ring::contradiction(std::string sentence) {
  RingFault fault;
  fault.nonsense = true;
  fault.sentence = std::move(sentence);
  return fault;
}

}  // namespace datum
