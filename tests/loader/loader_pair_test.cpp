// The system's loader and a current one in one process, in either order, with the driver behind both.

#include <string>

#include <gtest/gtest.h>

#include "tests/loader/program_run.hpp"

namespace datum::test {
namespace {

const std::string current = DATUM_CURRENT_LOADER;
const std::string legacy = DATUM_LEGACY_LOADER;

void expect_both_to_work(const std::string& first, const std::string& second) {
  const ProgramRun done = run_program(DATUM_PAIR_PROGRAM, {first, second},
                                      {"ZE_ENABLE_ALT_DRIVERS=" DATUM_DRIVER_FILE, "DATUM_BOARDS=model:"});
  EXPECT_EQ(done.exit_status, 0);
  EXPECT_EQ(done.output, "loaders: two\ncopied: right\ncopied: right\ncopied: right\ncopied: right\n");
}

TEST(LoaderPair, given_an_old_and_a_new_loader_when_both_are_used_then_each_works_and_outlives_the_other) {
  expect_both_to_work(legacy, current);
}

TEST(LoaderPair, given_a_new_and_an_old_loader_when_both_are_used_then_each_works_and_outlives_the_other) {
  expect_both_to_work(current, legacy);
}

}  // namespace
}  // namespace datum::test
