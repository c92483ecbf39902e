// Which descriptors commands become.
#include "driver/command/lowering.hpp"
#include "driver/command/stream.hpp"
#include "driver/device/limits.hpp"
#include "tests/unit/command/model_bench.hpp"

namespace datum::test {
namespace {

class LoweringTest : public ModelBench {
 protected:
  void SetUp() override {
    ModelBench::SetUp();
    stream_ = device().rings().open_stream(context());
  }

  void TearDown() override {
    stream_.reset();
    ModelBench::TearDown();
  }

  std::shared_ptr<Stream> stream_;
  Submission submission_;
};

TEST_F(LoweringTest,
       given_a_copy_of_more_than_4_gigabytes_when_lowered_then_pieces_join_and_no_address_wraps) {
  for (const std::uint64_t bytes : {(1ULL << 32U) - 1, 1ULL << 32U, (1ULL << 32U) + 4096, 6ULL << 30U}) {
    Lowering lowering(device(), stream_, submission_);
    const std::uint64_t to = 0x7000'0000'1000;
    const std::uint64_t from = 0x6fff'ffff'f123;
    lowering.copy(1, DeviceVa{to}, 2, DeviceVa{from}, bytes);
    std::uint64_t done = 0;
    for (const StreamItem& item : submission_.items) {
      const hw::Descriptor& piece = item.descriptor;
      ASSERT_EQ(piece.opcode(), hw::Opcode::copy);
      ASSERT_EQ(piece.dst_address(), to + done);
      ASSERT_EQ(piece.src_address(), from + done);
      ASSERT_GT(piece.bytes(), 0U);
      ASSERT_LE(piece.bytes(), limits::copy_piece_bytes);
      done += piece.bytes();
    }
    EXPECT_EQ(done, bytes);
    submission_.clear();
  }
}

TEST_F(LoweringTest, given_a_fill_of_more_than_4_gigabytes_when_lowered_then_its_length_is_whole) {
  Lowering lowering(device(), stream_, submission_);
  lowering.fill(DeviceVa{0x1000}, 5ULL << 30U, {1, 2}, 4);
  std::uint64_t done = 0;
  for (const StreamItem& item : submission_.items) {
    EXPECT_EQ(item.descriptor.dst_address(), 0x1000 + done);
    done += item.descriptor.bytes();
  }
  EXPECT_EQ(done, 5ULL << 30U);
  submission_.clear();
}

TEST_F(LoweringTest, given_a_box_of_thousands_of_rows_when_lowered_then_it_is_one_descriptor) {
  CopyCommand box;
  box.dst = device_memory(8 << 20);
  box.src = host_memory(8 << 20);
  box.shape = {100, 1000, 8};
  box.dst_pitches = {1000, 1 << 20};
  box.src_pitches = {500, 500'000};
  Lowering lowering(device(), stream_, submission_);
  ASSERT_TRUE(succeeded(box.lower(lowering)));
  ASSERT_EQ(submission_.items.size(), 1U);
  const hw::Descriptor& only = submission_.items.front().descriptor;
  EXPECT_EQ(only.opcode(), hw::Opcode::copy_region);
  EXPECT_EQ(only.region_rows(), 1000U);
  EXPECT_EQ(only.region_planes(), 8U);
  submission_.clear();
}

TEST_F(LoweringTest, given_nothing_to_copy_or_fill_when_lowered_then_there_is_no_descriptor) {
  Lowering lowering(device(), stream_, submission_);
  char byte = 0;
  EXPECT_TRUE(succeeded(copy(&byte, &byte, 0).lower(lowering)));
  EXPECT_TRUE(succeeded(fill(&byte, 0, 1).lower(lowering)));
  EXPECT_TRUE(submission_.empty());
}

}  // namespace
}  // namespace datum::test
