#include "sim/model/ring_engine.hpp"

#include <bit>
#include <utility>

#include "sim/model/descriptor_check.hpp"

namespace datum::sim {

namespace {

constexpr std::uint64_t fetch_cycles = 32;
constexpr std::uint64_t long_past_ns = 1;  // 0 is never
constexpr std::uint64_t ring_base_mask = ~0xfffULL;
constexpr std::uint64_t record_mask = ~0x3fULL;
constexpr std::uint32_t largest_size_log2 = 16;

}  // namespace

void RingEngine::set_enabled(unsigned number, bool enabled) noexcept {
  auto& ring = rings_[number];
  if (enabled == ring.enabled) {
    return;
  }
  watch_.forget(number);
  enabled_ ^= 1ULL << number;
  if (enabled) {
    ring.start();
  } else {
    end(ring);
    ring.stop();
    memory_.forget(number);
  }
}

void RingEngine::ring_doorbell(unsigned number, std::uint32_t tail) noexcept {
  auto& ring = rings_[number];
  if (ring.enabled && !ring.faulted) {
    ring.tail = tail;
  }
}

void RingEngine::reset() noexcept {
  rings_.fill({});
  enabled_ = 0;
  for (unsigned number = 0; number < ring_count; ++number) {
    memory_.forget(number);
  }
  watch_.forget_all();
  reports_ = {};
  busy_ = {};
  park_recheck_ns_ = default_park_recheck_ns;
  next_ = 0;
  turns_taken_ = 0;
}

bool RingEngine::due(unsigned number) const noexcept {
  const auto& ring = rings_[number];
  return watch_.due(number) || (ring.recheck_at_ns != 0 && now_ns() >= ring.recheck_at_ns);
}

bool RingEngine::can_go_on(unsigned number) const noexcept {
  const auto& ring = rings_[number];
  return ring.runnable() || (ring.parked && due(number));
}

bool RingEngine::has_work() const noexcept {
  for (auto left = enabled_; left != 0; left &= left - 1) {
    if (can_go_on(static_cast<unsigned>(std::countr_zero(left)))) {
      return true;
    }
  }
  return false;
}

/// From `next_` on; some ring is enabled.
unsigned RingEngine::next_enabled() const noexcept {
  const auto later = enabled_ & (~0ULL << next_);
  return static_cast<unsigned>(std::countr_zero(later != 0 ? later : enabled_));
}

void RingEngine::run(std::uint64_t cycles) {
  const auto end = counters_.cycle + cycles;
  for (int idle_in_a_row = 0; counters_.cycle < end && idle_in_a_row < std::popcount(enabled_);) {
    const auto number = next_enabled();
    const bool goes_on = can_go_on(number);
    if (goes_on) {
      idle_in_a_row = 0;
      work_on(number);
    } else {
      ++idle_in_a_row;
    }
    if (number != next_) {
      turns_taken_ = 0;  // those were another ring's
    }
    const bool again = goes_on && turns_taken_ < rings_[number].extra_turns;
    turns_taken_ = again ? turns_taken_ + 1 : 0;
    next_ = again ? number : (number + 1) % ring_count;
  }
}

bool RingEngine::fetch(unsigned number) {
  auto& ring = rings_[number];
  if (ring.size_log2 > largest_size_log2 || ring.tail - ring.head > 1U << ring.size_log2) {
    fail(number, {hw::Status::malformed, hw::FaultReason::size, false, 0, 0}, 0);
    return false;
  }
  const auto slots = 1U << ring.size_log2;
  const auto slot = (ring.base & ring_base_mask) + std::uint64_t{ring.head % slots} * sizeof(hw::Descriptor);
  counters_.cycle += fetch_cycles;
  const auto bytes = std::as_writable_bytes(std::span{ring.descriptor.words});
  if (memory_.read({Target::host, slot}, bytes) != bytes.size()) {
    if (memory_.pending()) {
      return false;
    }
    fail(number, {hw::Status::host_bus, hw::FaultReason::descriptor_fetch, false, 0, slot}, 0);
    return false;
  }
  ring.progress = {};
  ring.fetched = true;
  if (const auto reason = check_descriptor(ring.descriptor); reason != hw::FaultReason::none) {
    ++ring.head;
    fail(number, {hw::Status::malformed, reason, false, 0, 0}, ring.descriptor.sequence());
    return false;
  }
  return true;
}

void RingEngine::work_on(unsigned number) {
  auto& ring = rings_[number];
  memory_.set_requester(number);
  if (ring.record_due) {
    counters_.cycle += 1;
    deliver_record(number);
    return;
  }
  if (!ring.fetched && !fetch(number)) {
    return;
  }
  const bool waits = ring.descriptor.opcode() == hw::Opcode::wait_value;
  // A wait begins when its condition holds; everything else begins now.
  if (!ring.begun && !waits) {
    begin(ring);
  }
  ring.word_changed = ring.word_changed || (ring.looking && watch_.due(number));
  watch_.forget(number);
  const bool was_parked = std::exchange(ring.parked, false);
  counters_.cycle += 1;
  const auto result = executor_.step(number, ring);
  ring.looking = memory_.pending() && waits;
  if (memory_.pending()) {
    ring.parked = was_parked;  // it looks again without showing that
    ring.recheck_at_ns = long_past_ns;
    return;  // the step goes on where it stopped
  }
  const bool look_at_once = std::exchange(ring.word_changed, false);
  switch (result.outcome) {
  case Executor::Outcome::unfinished:
    break;
  case Executor::Outcome::parked:
    ring.parked = true;
    ring.recheck_at_ns = look_at_once            ? long_past_ns
                         : park_recheck_ns_ == 0 ? 0
                                                 : now_ns() + park_recheck_ns_;
    break;
  case Executor::Outcome::completed:
    ring.head += ring.begun ? 0 : 1;
    complete(number);
    break;
  case Executor::Outcome::failed:
    ring.head += ring.begun ? 0 : 1;
    fail(number, result.failure, ring.descriptor.sequence());
    break;
  }
}

void RingEngine::begin(Ring& ring) noexcept {
  ring.begun = true;
  ++ring.head;
  busy_.begin(now_ns());
}

void RingEngine::end(Ring& ring) noexcept {
  if (std::exchange(ring.begun, false)) {
    busy_.end(now_ns());
  }
}

void RingEngine::complete(unsigned number) {
  auto& ring = rings_[number];
  const auto& descriptor = ring.descriptor;
  ring.fetched = false;
  end(ring);
  ++counters_.descriptors;
  if (descriptor.opcode() != hw::Opcode::wait_value) {
    counters_.stalled_cycles += fetch_cycles;
  }
  if (descriptor.flag_complete() || descriptor.flag_interrupt()) {
    report(number, {}, descriptor.sequence());
  }
}

void RingEngine::fail(unsigned number, const Failure& failure, std::uint32_t sequence) {
  auto& ring = rings_[number];
  ring.fetched = false;
  end(ring);
  report(number, failure, sequence);
}

void RingEngine::report(unsigned number, const Failure& failure, std::uint32_t sequence) {
  auto& ring = rings_[number];
  ring.record = {};
  ring.record.set_sequence(sequence)
      .set_status(failure.status)
      .set_reason(failure.reason)
      .set_ring(static_cast<std::uint16_t>(number))
      .set_timer(now_ns())
      .set_head(ring.head)
      .set_fault_address(failure.address)
      .set_cycles(counters_.cycle - counters_.reset_cycle);
  ring.record_failure = failure;
  ring.record_due = true;
  deliver_record(number);
}

/// Interrupts follow the record: whoever sees one finds the other.
void RingEngine::deliver_record(unsigned number) {
  auto& ring = rings_[number];
  const auto bytes = std::as_bytes(std::span{ring.record.words});
  const auto address = ring.completion & record_mask;
  const bool written = memory_.write({Target::host, address}, bytes) == bytes.size();
  if (memory_.pending()) {
    return;
  }
  ring.record_due = false;
  const auto sequence = ring.record.sequence();
  if (!written) {
    record_fault(number, {hw::Status::host_bus, hw::FaultReason::completion_write, true, 0, address},
                 sequence);
    raise_fault();
  } else if (ring.record_failure.happened()) {
    record_fault(number, ring.record_failure, sequence);
    raise_ring(number);
    raise_fault();
  } else if (ring.descriptor.flag_interrupt()) {
    raise_ring(number);
  }
}

void RingEngine::record_fault(unsigned number, const Failure& failure, std::uint32_t sequence) {
  auto& ring = rings_[number];
  hw::RingFaultInfoRegister info;
  info.set_status(failure.status)
      .set_reason(failure.reason)
      .set_write(failure.write)
      .set_space(static_cast<std::uint16_t>(failure.space));
  ring.faulted = true;
  ring.fault_info = info.raw;
  ring.fault_sequence = sequence;
  ring.fault_address = failure.address;
  if (reports_.fault_count++ == 0) {
    reports_.log_info = info.raw;
    reports_.log_ring = number;
    reports_.log_address = failure.address;
    reports_.log_sequence = sequence;
  }
}

void RingEngine::raise_ring(unsigned number) {
  reports_.interrupt_rings |= 1ULL << number;
  messages_.raise(number);
}

void RingEngine::raise_fault() {
  reports_.interrupt_global |= hw::InterruptGlobalRegister{}.set_fault(true).raw;
  messages_.raise(ring_count);
}

void RingEngine::raise_memory() {
  reports_.interrupt_global |= hw::InterruptGlobalRegister{}.set_memory(true).raw;
  messages_.raise(ring_count + 1);
}

}  // namespace datum::sim
