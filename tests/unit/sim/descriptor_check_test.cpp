// Which rule a descriptor breaks first.

#include <gtest/gtest.h>

#include "sim/model/descriptor_check.hpp"

namespace datum::sim {
namespace {

hw::Descriptor of(hw::Opcode opcode) { return hw::Descriptor{}.set_opcode(opcode); }

TEST(DescriptorCheck, accepts_every_opcode_in_its_plain_form) {
  for (const auto opcode : {hw::Opcode::nop, hw::Opcode::copy, hw::Opcode::copy_region, hw::Opcode::fill,
                            hw::Opcode::wait_value, hw::Opcode::barrier}) {
    EXPECT_EQ(check_descriptor(of(opcode)), hw::FaultReason::none) << name_of(opcode);
  }
  EXPECT_EQ(check_descriptor(of(hw::Opcode::write_value).set_size_code(2).set_dst_address(4)),
            hw::FaultReason::none);
  EXPECT_EQ(check_descriptor(of(hw::Opcode::timestamp).set_size_code(3)), hw::FaultReason::none);
}

TEST(DescriptorCheck, every_bit_of_a_nop_but_opcode_flags_and_sequence_must_be_zero) {
  for (unsigned bit = 8; bit < 512; ++bit) {
    auto descriptor = of(hw::Opcode::nop);
    descriptor.words[bit / 64] |= 1ULL << (bit % 64);
    const bool allowed = bit < 11 || (bit >= 32 && bit < 64);
    EXPECT_EQ(check_descriptor(descriptor), allowed ? hw::FaultReason::none : hw::FaultReason::reserved_bits)
        << bit;
  }
}

TEST(DescriptorCheck, lengths_have_48_bits) {
  EXPECT_EQ(check_descriptor(of(hw::Opcode::copy).set_bytes((1ULL << 48U) - 1)), hw::FaultReason::none);
  auto longer = of(hw::Opcode::copy);
  longer.words[4] = 1ULL << 48U;
  EXPECT_EQ(check_descriptor(longer), hw::FaultReason::reserved_bits);
}

TEST(DescriptorCheck, reports_the_first_rule_in_the_order_of_the_contract) {
  auto all_wrong = of(static_cast<hw::Opcode>(99));
  all_wrong.words[1] = ~0ULL;
  EXPECT_EQ(check_descriptor(all_wrong), hw::FaultReason::opcode);
  auto value = of(hw::Opcode::write_value).set_size_code(9).set_dst_address(1);
  EXPECT_EQ(check_descriptor(value), hw::FaultReason::size);
  value.words[7] = 1;
  EXPECT_EQ(check_descriptor(value), hw::FaultReason::reserved_bits);
  EXPECT_EQ(check_descriptor(of(hw::Opcode::write_value).set_size_code(3).set_dst_address(4)),
            hw::FaultReason::alignment);
}

}  // namespace
}  // namespace datum::sim
