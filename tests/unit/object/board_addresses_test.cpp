#include <string>
#include <vector>

#include <gtest/gtest.h>

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

}  // namespace
}  // namespace datum
