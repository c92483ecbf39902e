// Lists of board addresses, as users write them.
#include <gtest/gtest.h>

#include "driver/device/board_addresses.hpp"

namespace datum::test {

TEST(BoardList, given_several_boards_when_the_first_is_asked_for_then_it_keeps_its_options) {
  EXPECT_EQ(first_board_of(""), "");
  EXPECT_EQ(first_board_of("rtl"), "rtl");
  EXPECT_EQ(first_board_of("vfio:0000:03:00.0,iommufd"), "vfio:0000:03:00.0,iommufd");
  EXPECT_EQ(first_board_of("vfio:03:00.0,container, vfio:04:00.0"), "vfio:03:00.0,container");
  EXPECT_EQ(first_board_of("rtl:seed=7,memory=16M,model,step"), "rtl:seed=7,memory=16M");
  EXPECT_EQ(first_board_of("rtl,step"), "rtl:step");
  EXPECT_EQ(first_board_of("model:,"), "model:");
}

TEST(BoardList, given_blanks_when_checked_then_they_mean_nothing) {
  for (const char* list : {"", " ", "rtl", " rtl , model:\t", "rtl:seed=7,memory=16M,model,step"}) {
    EXPECT_TRUE(check_board_list(list)) << list;
  }
}

TEST(BoardList, given_a_comma_too_many_when_checked_then_the_list_is_refused_and_repeated) {
  for (const char* list : {",", "rtl,", ",rtl", "rtl:,,model:", "model:memory=16M,,seed=3", "rtl, ,model"}) {
    const Status status = check_board_list(list);
    ASSERT_FALSE(status) << list;
    EXPECT_EQ(status.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(status.error().message.find("'" + std::string(list) + "' has an empty entry"),
              std::string::npos)
        << status.error().message;
  }
}

TEST(BoardList, given_a_scheme_that_there_is_not_when_checked_then_it_is_named) {
  for (const char* list : {"bogus", "bogus:", "model:seed=3,bogus:", "bogus,model:"}) {
    const Status status = check_board_schemes(list);
    ASSERT_FALSE(status) << list;
    EXPECT_NE(status.error().message.find("unknown scheme 'bogus'"), std::string::npos)
        << status.error().message;
  }
  EXPECT_TRUE(check_board_schemes("model:seed=3,step,rtl,vfio:0000:03:00.0,container"));
  EXPECT_FALSE(check_board_schemes("model:,"));
}

}  // namespace datum::test
