#include "tests/rtl/ring_driver.hpp"

namespace datum::rtl_test {

RingDriver::RingDriver(BoardBench& bench, unsigned ring, std::uint64_t base, unsigned size_log2)
    : bench_(bench), ring_(ring), base_(base), record_(base + (64ULL << size_log2)), size_log2_(size_log2) {
  bench_.host.memory.put(record_, hw::CompletionRecord{});
  bench_.write64(hw::ring_base(ring), base);
  bench_.write64(hw::ring_completion(ring), record_);
  bench_.write64(hw::ring_spaces(ring), 0x8000);
  bench_.write32(hw::ring_size_log2(ring), size_log2);
  bench_.write32(hw::ring_control(ring), 1);
}

std::uint32_t RingDriver::add(hw::Descriptor descriptor) {
  const auto slot = tail_ & ((1U << size_log2_) - 1);
  ++tail_;
  descriptor.set_sequence(tail_);
  bench_.host.memory.put(base_ + 64ULL * slot, descriptor);
  return tail_;
}

void RingDriver::ring_doorbell() { bench_.write32(hw::ring_tail(ring_), tail_); }

bool RingDriver::wait(std::uint32_t sequence, std::uint64_t limit) {
  return bench_.run_until([&] { return record().sequence() == sequence; }, limit);
}

hw::RingState RingDriver::state() { return static_cast<hw::RingState>(bench_.read32(hw::ring_state(ring_))); }

hw::Descriptor copy(std::uint64_t dst, std::uint64_t src, std::uint64_t bytes) {
  return hw::Descriptor{}
      .set_opcode(hw::Opcode::copy)
      .set_src_address(src)
      .set_dst_address(dst)
      .set_bytes(bytes)
      .set_flag_complete(true);
}

}  // namespace datum::rtl_test
