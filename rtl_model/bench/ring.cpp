#include "rtl_model/bench/ring.hpp"

namespace datum::rtl_bench {
namespace {

// Far from what tests copy.
constexpr std::uint64_t rings_base = 0x40'0000'0000;
constexpr std::uint64_t ring_stride = 0x40'0000;
constexpr std::uint64_t records_base = 0x50'0000'0000;

hw::Descriptor with_opcode(hw::Opcode opcode) {
  hw::Descriptor descriptor;
  return descriptor.set_opcode(opcode);
}

hw::Descriptor to(hw::Opcode opcode, Address dst) {
  return with_opcode(opcode).set_dst_space(dst.space).set_dst_address(dst.va);
}

}  // namespace

hw::Descriptor copy(Address dst, Address src, std::uint64_t bytes) {
  return to(hw::Opcode::copy, dst).set_src_space(src.space).set_src_address(src.va).set_bytes(bytes);
}

hw::Descriptor fill(Address dst, std::uint64_t bytes, std::uint8_t size_code, std::uint64_t low,
                    std::uint64_t high) {
  return to(hw::Opcode::fill, dst)
      .set_bytes(bytes)
      .set_size_code(size_code)
      .set_pattern_low(low)
      .set_pattern_high(high);
}

hw::Descriptor write_value(Address dst, std::uint8_t size_code, std::uint64_t value) {
  return to(hw::Opcode::write_value, dst).set_size_code(size_code).set_value(value);
}

hw::Descriptor wait_value(Address word, hw::WaitCondition condition, std::uint64_t value, std::uint64_t mask,
                          std::uint64_t error_mask) {
  return to(hw::Opcode::wait_value, word)
      .set_wait_condition(condition)
      .set_value(value)
      .set_wait_mask(mask)
      .set_wait_error_mask(error_mask);
}

hw::Descriptor timestamp(Address dst) { return to(hw::Opcode::timestamp, dst).set_size_code(3); }

hw::Descriptor barrier() { return with_opcode(hw::Opcode::barrier); }

hw::Descriptor copy_region(Address dst, Address src, const Region& region) {
  return to(hw::Opcode::copy_region, dst)
      .set_src_space(src.space)
      .set_src_address(src.va)
      .set_region_x_bytes(region.x_bytes)
      .set_region_rows(region.rows)
      .set_region_planes(region.planes)
      .set_src_row_pitch(region.src_row_pitch)
      .set_dst_row_pitch(region.dst_row_pitch)
      .set_src_slice_pitch(region.src_slice_pitch)
      .set_dst_slice_pitch(region.dst_slice_pitch);
}

Ring::Ring(DmaBench& bench, unsigned number, unsigned size_log2)
    : bench_(bench),
      number_(number),
      size_log2_(size_log2),
      base_(rings_base + number * ring_stride),
      record_address_(records_base + number * 64U) {
  bench_.write_register64(hw::ring_base(number_), base_);
  bench_.write_register64(hw::ring_completion(number_), record_address_);
  const std::uint64_t spaces = 0x8000'8000'8000'8000U | dram_space | (std::uint64_t{host_space} << 16U) |
                               (std::uint64_t{onchip_space} << 32U) | (std::uint64_t{dram_space} << 48U);
  bench_.write_register64(hw::ring_spaces(number_), spaces);
  bench_.write_register(hw::ring_size_log2(number_), size_log2_);
  set_enable(true);
}

std::uint64_t Ring::slot_address(std::uint32_t index) const {
  return base_ + std::uint64_t{index & ((1U << size_log2_) - 1U)} * sizeof(hw::Descriptor);
}

void Ring::put(const hw::Descriptor& wanted) {
  hw::Descriptor descriptor = wanted;
  if (descriptor.sequence() == 0) {
    descriptor.set_sequence(tail_);
  }
  bench_.memory().put({Target::host, slot_address(tail_)}, descriptor);
  ++tail_;
}

void Ring::doorbell() { bench_.write_register(hw::ring_tail(number_), tail_); }

void Ring::submit(const hw::Descriptor& descriptor) {
  put(descriptor);
  doorbell();
}

void Ring::set_enable(bool on) {
  bench_.write_register(hw::ring_control(number_), hw::RingControlRegister{}.set_enable(on).raw);
}

void Ring::restart() {
  set_enable(false);
  bench_.run_until([this] { return state() == hw::RingState::disabled; });
  tail_ = 0;
  set_enable(true);
}

hw::RingState Ring::state() {
  return static_cast<hw::RingState>(bench_.read_register(hw::ring_state(number_)));
}

std::uint32_t Ring::head() { return bench_.read_register(hw::ring_head(number_)); }

hw::RingFaultInfoRegister Ring::fault_info() { return {bench_.read_register(hw::ring_fault_info(number_))}; }

std::uint64_t Ring::fault_address() {
  const std::uint64_t low = bench_.read_register(hw::ring_fault_address(number_));
  return low | (std::uint64_t{bench_.read_register(hw::ring_fault_address(number_) + 4)} << 32U);
}

std::uint32_t Ring::fault_sequence() { return bench_.read_register(hw::ring_fault_sequence(number_)); }

hw::CompletionRecord Ring::record() {
  return bench_.memory().get<hw::CompletionRecord>({Target::host, record_address_});
}

}  // namespace datum::rtl_bench
