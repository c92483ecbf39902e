// Which boards a process sees.
#include <cstdlib>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "driver/object/board_choice.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum {
namespace {

using Addresses = std::vector<std::string>;

TEST(BoardAddresses, given_several_schemes_then_each_is_an_address) {
  EXPECT_EQ(split_board_addresses("rtl,vfio:0000:03:00.0, model:"),
            (Addresses{"rtl", "vfio:0000:03:00.0", "model:"}));
  EXPECT_EQ(split_board_addresses("model:,model:"), (Addresses{"model:", "model:"}));
}

TEST(BoardAddresses, given_options_then_they_belong_to_the_address_before_them) {
  EXPECT_EQ(split_board_addresses("rtl:seed=7,latency=10,step,model"),
            (Addresses{"rtl:seed=7,latency=10,step", "model"}));
  EXPECT_EQ(split_board_addresses("rtl,step"), (Addresses{"rtl:step"}));
  EXPECT_EQ(split_board_addresses("rtl:trace=/a:b.fst,vfio-user:/tmp/socket"),
            (Addresses{"rtl:trace=/a:b.fst", "vfio-user:/tmp/socket"}));
  EXPECT_EQ(split_board_addresses("rtl:seed=1,trace=/a:b.fst"), (Addresses{"rtl:seed=1,trace=/a:b.fst"}));
}

TEST(BoardAddresses, given_blanks_and_commas_too_many_then_they_are_passed_over) {
  EXPECT_EQ(split_board_addresses(" , rtl ,, "), (Addresses{"rtl"}));
  EXPECT_TRUE(split_board_addresses("").empty());
  EXPECT_TRUE(split_board_addresses(",").empty());
}

const Addresses three{"vfio:a", "vfio:b", "vfio:c"};

Addresses seen(const char* mask) {
  Result<Addresses> visible = visible_boards(three, mask);
  return visible.ok() ? *visible : Addresses{visible.error().message};
}

TEST(BoardMask, given_no_mask_then_all_boards_are_seen) {
  EXPECT_EQ(seen(nullptr), three);
  EXPECT_EQ(seen(""), three);
}

TEST(BoardMask, given_any_set_of_numbers_then_exactly_those_boards_are_seen_in_their_own_order) {
  for (unsigned set = 1; set < 8; ++set) {
    std::string forwards;
    std::string backwards;
    Addresses expected;
    for (unsigned index = 0; index < 3; ++index) {
      if ((set >> index & 1U) != 0) {
        forwards += (forwards.empty() ? "" : ",") + std::to_string(index);
        backwards = std::to_string(index) + (backwards.empty() ? "" : ",") + backwards;
        expected.push_back(three[index]);
      }
    }
    EXPECT_EQ(seen(forwards.c_str()), expected) << forwards;
    EXPECT_EQ(seen(backwards.c_str()), expected) << backwards;
  }
}

TEST(BoardMask, given_blanks_repetitions_and_numbers_beyond_the_last_then_the_rest_counts) {
  EXPECT_EQ(seen(" 2 , 0,2,7"), (Addresses{"vfio:a", "vfio:c"}));
}

TEST(BoardMask, given_parts_of_devices_then_the_first_is_the_whole_and_there_is_no_other) {
  EXPECT_EQ(seen("1.0"), Addresses{"vfio:b"});
  EXPECT_EQ(seen("0.1,1"), Addresses{"vfio:b"});
}

TEST(BoardMask, given_numbers_of_no_board_then_none_is_left_and_the_sentence_has_mask_and_count) {
  const Result<Addresses> none = visible_boards(three, "3,0.2");
  ASSERT_FALSE(none.ok());
  EXPECT_EQ(none.error().code, ErrorCode::uninitialized);
  EXPECT_EQ(none.error().message, "ZE_AFFINITY_MASK is '3,0.2', which hides each of the 3 boards");
}

TEST(BoardMask, given_what_is_no_list_of_numbers_then_no_board_is_seen_and_the_mask_is_told) {
  for (const char* mask : {"x", "0,", ",0", "0x1", "-1", "0.", ".0", "0.0.0", "99999999999", "0;1", " "}) {
    const Result<Addresses> none = visible_boards(three, mask);
    ASSERT_FALSE(none.ok()) << mask;
    EXPECT_EQ(none.error().code, ErrorCode::uninitialized);
    EXPECT_NE(none.error().message.find(std::string("'") + mask + "'"), std::string::npos)
        << none.error().message;
    EXPECT_FALSE(none.error().hint.empty());
  }
}

/// Boards of the simulation's plugin.
class UnusableBoards : public ::testing::Test {
 protected:
  static void SetUpTestSuite() { ::setenv("DATUM_SIM_PLUGIN", DATUM_TEST_PLUGIN, 1); }
};

const Addresses with_bad_ones{"model:nonsense=1", "model:memory=16M", "vfio:ffff:ff:1f.7"};

TEST_F(UnusableBoards, given_boards_that_were_asked_for_then_the_first_that_cannot_be_opened_fails_all) {
  const Result<std::unique_ptr<Driver>> driver = Driver::open(with_bad_ones);
  ASSERT_FALSE(driver.ok());
  EXPECT_NE(driver.error().message.find("the board model:nonsense=1 cannot be used"), std::string::npos)
      << driver.error().message;
}

TEST_F(UnusableBoards,
       given_boards_that_nobody_named_then_those_that_can_be_opened_work_and_each_other_has_a_sentence) {
  std::vector<Error> left_out;
  Result<std::vector<std::unique_ptr<Board>>> boards = open_usable_boards(with_bad_ones, left_out);
  ASSERT_TRUE(boards.ok()) << boards.error().message;
  ASSERT_EQ(left_out.size(), 2U);
  EXPECT_NE(left_out[0].message.find("model:nonsense=1"), std::string::npos) << left_out[0].message;
  EXPECT_NE(left_out[1].message.find("no PCI device ffff:ff:1f.7"), std::string::npos) << left_out[1].message;
  const Result<std::unique_ptr<Driver>> driver = Driver::create(std::move(*boards));
  ASSERT_TRUE(driver.ok()) << driver.error().message;
  ASSERT_EQ((*driver)->devices().size(), 1U);
  EXPECT_EQ((*driver)->devices().front()->board().function().info().address, "model:memory=16M");
  EXPECT_EQ((*driver)->devices().front()->index(), 0U);
}

TEST_F(UnusableBoards, given_none_that_can_be_opened_then_there_are_no_boards_and_the_first_is_told) {
  std::vector<Error> left_out;
  const auto boards = open_usable_boards({"vfio:ffff:ff:1f.7", "model:nonsense=1"}, left_out);
  ASSERT_FALSE(boards.ok());
  EXPECT_EQ(boards.error().code, ErrorCode::not_available);
  EXPECT_NE(boards.error().message.find("ffff:ff:1f.7"), std::string::npos) << boards.error().message;
}

}  // namespace
}  // namespace datum
