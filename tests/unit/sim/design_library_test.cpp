// Libraries of designs that cannot be had, and the sentences that say so.

#include <cstdlib>
#include <filesystem>
#include <string>

#include <gtest/gtest.h>

#include "sim/board/design_library.hpp"

namespace datum::sim {
namespace {

Error refusal_of(const std::string& name) {
  const auto design = load_design(name);
  EXPECT_FALSE(design) << name;
  return design ? Error{} : design.error();
}

TEST(DesignLibrary, that_is_not_there_is_refused_with_the_places_that_were_looked_at) {
  ::setenv(design_path_variable, "/nowhere/first::/nowhere/second", 1);
  const Error refused = refusal_of("unheard");
  ::unsetenv(design_path_variable);
  EXPECT_EQ(refused.code, ErrorCode::invalid_argument);
  for (const auto* const word :
       {"design=unheard", "libdatum_board_unheard.so", "'/nowhere/first'", "'/nowhere/second'"}) {
    EXPECT_NE(refused.message.find(word), std::string::npos) << refused.message << " does not say " << word;
  }
  EXPECT_NE(refused.hint.find(design_path_variable), std::string::npos) << refused.hint;
  EXPECT_NE(refusal_of("/nowhere/libdatum_board_own.so").message.find("no such file"), std::string::npos);
}

TEST(DesignLibrary, that_is_no_library_or_no_design_is_refused) {
  EXPECT_NE(refusal_of("/etc/passwd").message.find("cannot be loaded"), std::string::npos);
  EXPECT_NE(refusal_of(DATUM_TEST_NO_DESIGN).message.find("datum_board_design"), std::string::npos);
}

TEST(DesignLibrary, of_another_release_is_refused_when_found_by_name) {
  ::setenv(design_path_variable, std::filesystem::path(DATUM_TEST_OLD_DESIGN).parent_path().c_str(), 1);
  const Error refused = refusal_of("old");
  ::unsetenv(design_path_variable);
  EXPECT_NE(refused.message.find("another release"), std::string::npos) << refused.message;
  EXPECT_EQ(refused.hint, "build it again");
}

}  // namespace
}  // namespace datum::sim
