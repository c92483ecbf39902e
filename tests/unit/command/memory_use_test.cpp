#include <gtest/gtest.h>

#include "driver/command/memory_use.hpp"

namespace datum {
namespace {

constexpr unsigned space = 3;
constexpr UsedRange range{space, DeviceVa{0x10000}, 0x1000};

hw::Descriptor descriptor(hw::Opcode opcode, std::uint64_t dst, std::uint64_t src, std::uint64_t bytes) {
  hw::Descriptor made;
  made.set_opcode(opcode)
      .set_dst_space(space)
      .set_src_space(space)
      .set_dst_address(dst)
      .set_src_address(src)
      .set_bytes(bytes);
  return made;
}

TEST(MemoryUseTest, given_a_copy_when_source_or_destination_shares_a_byte_then_it_touches_the_range) {
  const auto copies = [](std::uint64_t dst, std::uint64_t src, std::uint64_t bytes) {
    return touches(descriptor(hw::Opcode::copy, dst, src, bytes), range);
  };
  EXPECT_TRUE(copies(0x10000, 0x900000, 1));
  EXPECT_TRUE(copies(0x900000, 0x10fff, 1));
  EXPECT_TRUE(copies(0xffff, 0x900000, 2)) << "its last byte";
  EXPECT_TRUE(copies(0x1000, 0x900000, 0x100000)) << "all of it";
  EXPECT_FALSE(copies(0xffff, 0x900000, 1)) << "the byte before";
  EXPECT_FALSE(copies(0x11000, 0x900000, 1)) << "the byte behind";
}

TEST(MemoryUseTest, given_another_space_then_the_same_address_is_other_memory) {
  hw::Descriptor copy = descriptor(hw::Opcode::copy, 0x10000, 0x10000, 1);
  copy.set_dst_space(4);
  EXPECT_TRUE(touches(copy, range)) << "the source is in the space";
  copy.set_src_space(4);
  EXPECT_FALSE(touches(copy, range));
}

TEST(MemoryUseTest, given_words_and_fills_then_their_destination_counts) {
  for (const hw::Opcode opcode : {hw::Opcode::write_value, hw::Opcode::wait_value, hw::Opcode::timestamp}) {
    EXPECT_TRUE(touches(descriptor(opcode, 0x10ff8, 0, 0), range));
    EXPECT_FALSE(touches(descriptor(opcode, 0x11000, 0x10000, 0), range));
  }
  EXPECT_TRUE(touches(descriptor(hw::Opcode::fill, 0xf000, 0, 0x1001), range));
  EXPECT_FALSE(touches(descriptor(hw::Opcode::fill, 0xf000, 0x10000, 0x1000), range));
  EXPECT_FALSE(touches(descriptor(hw::Opcode::barrier, 0x10000, 0x10000, 8), range));
  EXPECT_FALSE(touches(descriptor(hw::Opcode::nop, 0x10000, 0x10000, 8), range));
}

TEST(MemoryUseTest, given_a_region_then_it_reaches_to_the_last_byte_of_its_last_row) {
  hw::Descriptor region = descriptor(hw::Opcode::copy_region, 0x900000, 0xd000, 0);
  region.set_region_x_bytes(16)
      .set_region_rows(4)
      .set_region_planes(1)
      .set_src_row_pitch(0x1000)
      .set_dst_row_pitch(16);
  EXPECT_TRUE(touches(region, range)) << "its fourth row begins with the range";
  region.set_region_rows(3);
  EXPECT_FALSE(touches(region, range));
  region.set_region_planes(2).set_src_slice_pitch(0x3000);
  EXPECT_TRUE(touches(region, range)) << "its second plane does";
}

}  // namespace
}  // namespace datum
