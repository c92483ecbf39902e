#include <gtest/gtest.h>

#include "driver/device/faults.hpp"

namespace datum::test {
namespace {

TEST(FaultsTest, given_a_refused_write_when_described_then_address_reason_and_space_are_told) {
  RingFault fault;
  fault.status = hw::Status::mmu;
  fault.reason = hw::FaultReason::write_refused;
  fault.write = true;
  fault.space = 3;
  fault.address = 0x7000;
  EXPECT_EQ(describe(fault), "the write to 0x7000 was refused: the page is read-only (space 3)");
}

TEST(FaultsTest, given_a_status_that_no_board_should_report_when_described_then_the_number_is_told) {
  RingFault fault;
  fault.status = static_cast<hw::Status>(99);
  EXPECT_EQ(describe(fault), "the board reported status 99");
}

TEST(FaultsTest, given_descriptors_when_described_then_sizes_and_addresses_are_told) {
  hw::Descriptor copy;
  copy.set_opcode(hw::Opcode::copy).set_src_address(0x1000).set_dst_address(0x2000).set_bytes(77);
  EXPECT_EQ(describe(copy), "copy of 77 bytes from 0x1000 to 0x2000");
  hw::Descriptor unknown;
  unknown.words[0] = 0xee;
  EXPECT_EQ(describe(unknown), "unknown command");
}

}  // namespace
}  // namespace datum::test
