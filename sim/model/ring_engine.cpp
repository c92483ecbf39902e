#include "sim/model/ring_engine.hpp"

#include "sim/model/descriptor_check.hpp"

namespace datum::sim {

namespace {

constexpr std::uint64_t fetch_cycles = 32;
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
  if (enabled) {
    ring.start();
  } else {
    ring.stop();
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
  watch_.forget_all();
  reports_ = {};
  park_recheck_ns_ = default_park_recheck_ns;
  next_ = 0;
}

bool RingEngine::due(unsigned number) const noexcept {
  const auto& ring = rings_[number];
  return watch_.due(number) ||
         (ring.recheck_at_ns != 0 && timebase_.now_ns(counters_.cycle) >= ring.recheck_at_ns);
}

bool RingEngine::has_work() const noexcept {
  for (unsigned number = 0; number < ring_count; ++number) {
    const auto& ring = rings_[number];
    if (ring.runnable() || (ring.parked && due(number))) {
      return true;
    }
  }
  return false;
}

void RingEngine::run(std::uint64_t cycles) {
  const auto end = counters_.cycle + cycles;
  unsigned idle_in_a_row = 0;
  while (counters_.cycle < end && idle_in_a_row < ring_count) {
    const auto number = next_;
    next_ = (next_ + 1) % ring_count;
    const auto& ring = rings_[number];
    if (ring.runnable() || (ring.parked && due(number))) {
      idle_in_a_row = 0;
      work_on(number);
    } else {
      ++idle_in_a_row;
    }
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
  if (!ring.fetched && !fetch(number)) {
    return;
  }
  const bool waits = ring.descriptor.opcode() == hw::Opcode::wait_value;
  if (!ring.begun) {
    // A wait begins when its condition holds; everything else begins now.
    ring.begun = !waits;
    ring.head += waits ? 0 : 1;
  }
  watch_.forget(number);
  ring.parked = false;
  counters_.cycle += 1;
  const auto result = executor_.step(number, ring);
  switch (result.outcome) {
  case Executor::Outcome::unfinished:
    break;
  case Executor::Outcome::parked:
    ring.parked = true;
    ring.recheck_at_ns = park_recheck_ns_ == 0 ? 0 : timebase_.now_ns(counters_.cycle) + park_recheck_ns_;
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

void RingEngine::complete(unsigned number) {
  auto& ring = rings_[number];
  const auto& descriptor = ring.descriptor;
  ring.fetched = ring.begun = false;
  ++counters_.descriptors;
  if (!descriptor.flag_complete() && !descriptor.flag_interrupt()) {
    return;
  }
  if (!write_record(number, {}, descriptor.sequence())) {
    record_fault(
        number,
        {hw::Status::host_bus, hw::FaultReason::completion_write, true, 0, ring.completion & record_mask},
        descriptor.sequence());
    raise_fault();
    return;
  }
  if (descriptor.flag_interrupt()) {
    raise_ring(number);
  }
}

void RingEngine::fail(unsigned number, const Failure& failure, std::uint32_t sequence) {
  auto& ring = rings_[number];
  ring.fetched = ring.begun = false;
  if (write_record(number, failure, sequence)) {
    record_fault(number, failure, sequence);
    raise_ring(number);
  } else {
    record_fault(
        number,
        {hw::Status::host_bus, hw::FaultReason::completion_write, true, 0, ring.completion & record_mask},
        sequence);
  }
  raise_fault();
}

bool RingEngine::write_record(unsigned number, const Failure& failure, std::uint32_t sequence) {
  const auto& ring = rings_[number];
  hw::CompletionRecord record;
  record.set_sequence(sequence)
      .set_status(failure.status)
      .set_reason(failure.reason)
      .set_ring(static_cast<std::uint16_t>(number))
      .set_timer(timebase_.now_ns(counters_.cycle))
      .set_head(ring.head)
      .set_fault_address(failure.address);
  const auto bytes = std::as_bytes(std::span{record.words});
  return memory_.write({Target::host, ring.completion & record_mask}, bytes) == bytes.size();
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

}  // namespace datum::sim
