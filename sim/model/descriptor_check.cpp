#include "sim/model/descriptor_check.hpp"

#include <array>
#include <cstdint>

#include <datum/base/address.hpp>

namespace datum::sim {

namespace {

using Words = std::array<std::uint64_t, 8>;

constexpr std::uint64_t whole_space = ~0ULL;
constexpr std::uint64_t low48 = (1ULL << 48U) - 1;
constexpr std::uint64_t plain_word0 = 0xffffffff'000007ffULL;  // sequence, flags, opcode
constexpr std::uint64_t size_code_bits = 0x00ff0000U;
constexpr std::uint64_t wait_condition_bits = 0x00003000U;
constexpr std::uint64_t src_space_bits = 0x0000ffffU;
constexpr std::uint64_t dst_space_bits = 0xffff0000U;
constexpr std::uint64_t both_spaces = src_space_bits | dst_space_bits;

/// Bits that an opcode uses. All others must be zero.
Words used_bits(hw::Opcode opcode) noexcept {
  switch (opcode) {
  case hw::Opcode::copy:
    return {plain_word0, both_spaces, whole_space, whole_space, low48, 0, 0, 0};
  case hw::Opcode::copy_region:
    return {plain_word0, both_spaces, whole_space, whole_space,
            whole_space, whole_space, whole_space, 0xffffffffU};
  case hw::Opcode::fill:
    return {plain_word0 | size_code_bits, dst_space_bits, whole_space, whole_space, low48, whole_space, 0, 0};
  case hw::Opcode::write_value:
    return {plain_word0 | size_code_bits, dst_space_bits, whole_space, whole_space, 0, 0, 0, 0};
  case hw::Opcode::wait_value:
    return {plain_word0 | wait_condition_bits,
            dst_space_bits,
            whole_space,
            whole_space,
            whole_space,
            whole_space,
            0,
            0};
  case hw::Opcode::timestamp:
    return {plain_word0 | size_code_bits, dst_space_bits, 0, whole_space, 0, 0, 0, 0};
  case hw::Opcode::nop:
  case hw::Opcode::barrier:
    break;
  }
  return {plain_word0, 0, 0, 0, 0, 0, 0, 0};
}

bool size_code_is_valid(hw::Opcode opcode, unsigned code) noexcept {
  switch (opcode) {
  case hw::Opcode::fill:
    return code <= 4;
  case hw::Opcode::write_value:
    return code == 2 || code == 3;
  case hw::Opcode::timestamp:
    return code == 3;
  default:
    return true;
  }
}

std::uint64_t alignment_bytes(hw::Opcode opcode, unsigned size_code) noexcept {
  switch (opcode) {
  case hw::Opcode::write_value:
  case hw::Opcode::timestamp:
    return 1ULL << size_code;
  case hw::Opcode::wait_value:
    return sizeof(std::uint64_t);
  default:
    return 1;
  }
}

}  // namespace

hw::FaultReason check_descriptor(const hw::Descriptor& descriptor) noexcept {
  const auto opcode = descriptor.opcode();
  if (name_of(opcode).empty()) {
    return hw::FaultReason::opcode;
  }
  const auto used = used_bits(opcode);
  for (std::size_t word = 0; word < used.size(); ++word) {
    if ((descriptor.words[word] & ~used[word]) != 0) {
      return hw::FaultReason::reserved_bits;
    }
  }
  if (name_of(descriptor.wait_condition()).empty()) {
    return hw::FaultReason::reserved_bits;
  }
  if (!size_code_is_valid(opcode, descriptor.size_code())) {
    return hw::FaultReason::size;
  }
  if (!is_aligned(descriptor.dst_address(), alignment_bytes(opcode, descriptor.size_code()))) {
    return hw::FaultReason::alignment;
  }
  return hw::FaultReason::none;
}

}  // namespace datum::sim
