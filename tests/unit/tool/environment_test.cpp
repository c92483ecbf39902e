// Values of ZE_ENABLE_ALT_DRIVERS that crash or hang a loader, and sizes in words.
#include <gtest/gtest.h>

#include "tools/datum/environment.hpp"
#include "tools/datum/output.hpp"

namespace datum::test {

TEST(ToolEnvironment, given_no_list_or_a_whole_one_when_it_is_checked_then_it_is_good) {
  for (const char* list : {static_cast<const char*>(nullptr), "a.so", "/x/a.so,b.so"}) {
    EXPECT_TRUE(tool::check_driver_list(list)) << (list == nullptr ? "null" : list);
  }
}

TEST(ToolEnvironment, given_an_empty_entry_when_it_is_checked_then_it_is_refused_with_the_cure) {
  for (const char* list : {"", ",", "a.so,", ",a.so", "a.so,,b.so"}) {
    const Status status = tool::check_driver_list(list);
    ASSERT_FALSE(status) << list;
    EXPECT_EQ(status.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(status.error().hint.find("export ZE_ENABLE_ALT_DRIVERS="), std::string::npos);
  }
}

TEST(ToolOutput, given_text_when_it_is_to_be_a_word_then_the_shell_reads_it_as_it_is) {
  EXPECT_EQ(tool::shell_word("/x/a.so,b.so"), "/x/a.so,b.so");
  EXPECT_EQ(tool::shell_word(""), "''");
  EXPECT_EQ(tool::shell_word("it's $HOME"), "'it'\\''s $HOME'");
}

TEST(ToolOutput, given_sizes_when_they_are_told_then_the_unit_fits) {
  EXPECT_EQ(tool::bytes_text(0), "0 bytes");
  EXPECT_EQ(tool::bytes_text(1023), "1023 bytes");
  EXPECT_EQ(tool::bytes_text(65536), "64 KiB");
  EXPECT_EQ(tool::bytes_text(3ULL << 29U), "1.5 GiB");
  EXPECT_EQ(tool::bytes_text(4ULL << 40U), "4 TiB");
}

}  // namespace datum::test
