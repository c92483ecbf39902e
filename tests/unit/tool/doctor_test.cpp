// What `datum doctor` makes of a machine and of the child that tried the driver.
#include <gtest/gtest.h>
#include <nlohmann/json.hpp>

#include "tests/fakes/kernel/fake_kernel.hpp"
#include "tests/fakes/kernel/register_card.hpp"
#include "tools/datum/doctor.hpp"
#include "tools/datum/driver_checks.hpp"
#include "tools/datum/exit_status.hpp"
#include "tools/datum/machine_checks.hpp"

namespace datum::test {

using tool::ChildEnd;
using tool::FurtherCheck;
using vfio::Check;
using vfio::CheckOutcome;

namespace {

constexpr const char* huge_setting = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";
constexpr const char* good_list = "/lib/libze_datum.so";

bool has(const std::string& text, const std::string& part) { return text.find(part) != std::string::npos; }

ChildEnd ended(int exit_status, std::string output, std::string errors = {}) {
  ChildEnd end;
  end.started = true;
  end.exit_status = exit_status;
  end.output = std::move(output);
  end.errors = std::move(errors);
  return end;
}

Check with_outcome(CheckOutcome outcome) {
  Check check;
  check.number = 3;
  check.name = "name";
  check.outcome = outcome;
  check.finding = "finding";
  return check;
}

}  // namespace

class ToolDoctor : public ::testing::Test {
 protected:
  ToolDoctor() { kernel_.plug("0000:03:00.0", 12, std::make_shared<RegisterCard>(RegisterCard::Shape{})); }

  FakeKernel kernel_;
};

TEST_F(ToolDoctor, given_a_card_that_works_when_it_is_checked_then_the_status_is_0) {
  const std::vector<Check> checks = tool::check_card(kernel_, "vfio:0000:03:00.0");
  ASSERT_EQ(checks.size(), 7U);
  EXPECT_EQ(tool::status_of(checks), tool::exit_well);
}

TEST_F(ToolDoctor, given_no_board_when_it_is_checked_then_the_first_bound_card_is_looked_at) {
  EXPECT_TRUE(has(tool::check_card(kernel_, "").front().finding, "0000:03:00.0"));
  EXPECT_TRUE(has(tool::check_card(kernel_, "vfio").front().finding, "0000:03:00.0"));
}

TEST_F(ToolDoctor, given_a_card_that_is_missing_when_it_is_checked_then_the_status_is_2) {
  EXPECT_EQ(tool::status_of(tool::check_card(kernel_, "vfio:0000:04:00.0")), tool::exit_failed);
}

TEST_F(ToolDoctor, given_little_lockable_memory_when_it_is_checked_then_the_status_is_1) {
  kernel_.machine.traits.memlock_bytes = 8U << 20U;
  EXPECT_EQ(tool::status_of(tool::check_card(kernel_, "vfio:")), tool::exit_warnings);
}

TEST_F(ToolDoctor, given_a_simulated_board_when_it_is_checked_then_every_check_of_a_card_is_skipped) {
  for (const char* board : {"rtl:", "model", "vfio-user:/tmp/board"}) {
    const std::vector<Check> checks = tool::check_card(kernel_, board);
    ASSERT_EQ(checks.size(), 7U);
    for (const Check& check : checks) {
      EXPECT_EQ(check.outcome, CheckOutcome::skipped) << board << " " << check.name;
    }
  }
}

TEST_F(ToolDoctor, given_an_address_that_means_nothing_when_it_is_checked_then_the_first_check_says_so) {
  const std::vector<Check> checks = tool::check_card(kernel_, "vfio:zebra");
  ASSERT_EQ(checks.size(), 7U);
  EXPECT_EQ(checks[0].outcome, CheckOutcome::failed);
  EXPECT_TRUE(has(checks[0].finding, "vfio:zebra")) << checks[0].finding;
  for (std::size_t index = 1; index < checks.size(); ++index) {
    EXPECT_EQ(checks[index].outcome, CheckOutcome::skipped);
  }
}

TEST_F(ToolDoctor, given_any_setting_of_huge_pages_when_it_is_checked_then_it_passes_and_tells_it) {
  EXPECT_TRUE(has(tool::check_huge_pages(kernel_).finding, "no transparent huge pages"));
  kernel_.machine.files.add_file(huge_setting, "always within_size [advise] never deny force\n");
  EXPECT_TRUE(
      has(tool::check_huge_pages(kernel_).finding, "may come in huge pages (shmem_enabled is 'advise')"));
  kernel_.machine.files.add_file(huge_setting, "always within_size advise [never] deny force\n");
  const Check check = tool::check_huge_pages(kernel_);
  EXPECT_TRUE(has(check.finding, "small pages (shmem_enabled is 'never')")) << check.finding;
  EXPECT_EQ(check.outcome, CheckOutcome::passed);
  EXPECT_EQ(check.number, 8U);
}

TEST_F(ToolDoctor, given_a_restricted_ptrace_when_it_is_checked_then_it_passes_with_the_value) {
  kernel_.machine.files.add_file("/proc/sys/kernel/yama/ptrace_scope", "3\n");
  const Check check = tool::check_ptrace_scope(kernel_);
  EXPECT_EQ(check.outcome, CheckOutcome::passed);
  EXPECT_TRUE(has(check.finding, "ptrace_scope is 3")) << check.finding;
}

TEST(ToolDoctorChild, given_devices_when_the_child_is_judged_then_both_checks_pass_and_name_them) {
  const auto checks =
      tool::judge_child(ended(0, R"({"devices": [{"name": "Board A"}, {"name": "B"}]})"), good_list);
  ASSERT_EQ(checks.size(), 2U);
  EXPECT_EQ(checks[0].outcome, CheckOutcome::passed);
  EXPECT_EQ(checks[1].outcome, CheckOutcome::passed);
  EXPECT_EQ(checks[1].finding, "2 devices: Board A, B");
}

TEST(ToolDoctorChild,
     given_cards_that_were_left_out_when_the_child_is_judged_then_it_warns_with_each_sentence) {
  const auto checks = tool::judge_child(
      ended(0, R"({"devices": [{"name": "Board A"}]})", "datum: B is in use\nnoise\ndatum: C is gone\n"),
      good_list);
  EXPECT_EQ(checks[0].outcome, CheckOutcome::passed);
  EXPECT_EQ(checks[1].outcome, CheckOutcome::warning);
  EXPECT_EQ(checks[1].finding, "1 device: Board A; the driver says: B is in use; C is gone");
}

TEST(ToolDoctorChild, given_a_driver_that_declines_when_the_child_is_judged_then_the_loader_is_cleared) {
  const auto checks = tool::judge_child(ended(2, "{}", "noise\ndatum: no board is bound\n"), good_list);
  EXPECT_EQ(checks[0].outcome, CheckOutcome::passed);
  EXPECT_EQ(checks[1].outcome, CheckOutcome::failed);
  EXPECT_EQ(checks[1].finding, "no board is bound");
  EXPECT_TRUE(has(checks[1].cure, "export DATUM_BOARDS=rtl:")) << checks[1].cure;
}

TEST(ToolDoctorChild,
     given_boards_that_do_not_open_when_the_child_is_judged_then_the_cure_is_to_name_others) {
  const ChildEnd declined = ended(2, "{}", "datum: unknown scheme\n");
  const std::string bogus = tool::judge_child(declined, good_list, "bogus:")[1].cure;
  EXPECT_TRUE(has(bogus, "in place of 'bogus:' name a board that there is: rtl: or model:")) << bogus;
  EXPECT_FALSE(has(bogus, "checks above")) << bogus;
  const std::string card_cure = tool::judge_child(declined, good_list, "vfio:0000:03:00.0")[1].cure;
  EXPECT_TRUE(
      has(card_cure, "mend what the checks above say of the card, or in place of 'vfio:0000:03:00.0'"))
      << card_cure;
}

TEST(ToolDoctorChild, given_a_silent_failure_when_the_child_is_judged_then_the_driver_was_not_found) {
  const auto checks = tool::judge_child(ended(2, R"({"error": {"message": "none", "hint": ""}})"), nullptr);
  EXPECT_EQ(checks[0].outcome, CheckOutcome::failed);
  EXPECT_TRUE(has(checks[0].finding, "ZE_ENABLE_ALT_DRIVERS is not set")) << checks[0].finding;
  EXPECT_TRUE(has(checks[0].cure, "export ZE_ENABLE_ALT_DRIVERS=")) << checks[0].cure;
  EXPECT_EQ(checks[1].outcome, CheckOutcome::skipped);
}

TEST(ToolDoctorChild, given_no_loader_when_the_child_is_judged_then_its_cure_is_told) {
  const auto checks = tool::judge_child(
      ended(2,
            R"({"error": {"message": "the Level Zero loader cannot be loaded: x", "hint": "install it"}})"),
      good_list);
  EXPECT_EQ(checks[0].outcome, CheckOutcome::failed);
  EXPECT_TRUE(has(checks[0].finding, "cannot be loaded: x"));
  EXPECT_EQ(checks[0].cure, "install it");
}

TEST(ToolDoctorChild, given_a_crash_or_a_hang_when_the_child_is_judged_then_either_is_a_failure_of_its_own) {
  ChildEnd crashed = ended(0, R"({"devices": [{"name": "A"}]})");
  crashed.signal = 11;
  EXPECT_TRUE(has(tool::judge_child(crashed, good_list)[0].finding, "ends by signal 11"));
  ChildEnd hung = ended(0, "");
  hung.timed_out = true;
  EXPECT_TRUE(has(tool::judge_child(hung, good_list)[0].finding, "hangs"));
  EXPECT_TRUE(has(tool::judge_child(ChildEnd{}, good_list)[0].finding, "could not be started"));
}

TEST(ToolDoctorChild, given_output_that_is_no_answer_when_the_child_is_judged_then_it_is_a_failure) {
  for (const char* output :
       {"", "[]", "{\"devices\": 7}", "{\"devices\": []}", "{\"error\": 1}", "not json"}) {
    EXPECT_EQ(tool::judge_child(ended(0, output), good_list)[0].outcome, CheckOutcome::failed) << output;
  }
}

TEST(ToolDoctorReport, given_each_outcome_when_the_status_is_asked_for_then_the_worst_counts) {
  const Check passed = with_outcome(CheckOutcome::passed);
  const Check warning = with_outcome(CheckOutcome::warning);
  const Check failed = with_outcome(CheckOutcome::failed);
  const Check skipped = with_outcome(CheckOutcome::skipped);
  EXPECT_EQ(tool::status_of({passed, skipped}), 0);
  EXPECT_EQ(tool::status_of({passed, warning, skipped}), 1);
  EXPECT_EQ(tool::status_of({warning, failed, passed}), 2);
}

TEST(ToolDoctorReport, given_checks_when_they_are_reported_then_text_and_json_hold_the_same) {
  Check check = with_outcome(CheckOutcome::failed);
  check.cure = "cure \"it\"";
  EXPECT_EQ(tool::report_text({check}), " 3  failed   name: finding\n    cure: cure \"it\"\n");
  const auto object = nlohmann::json::parse(tool::report_json("vfio:", {check}));
  EXPECT_EQ(object["board"], "vfio:");
  EXPECT_EQ(object["status"], 2);
  ASSERT_EQ(object["checks"].size(), 1U);
  EXPECT_EQ(object["checks"][0]["number"], 3);
  EXPECT_EQ(object["checks"][0]["outcome"], "failed");
  EXPECT_EQ(object["checks"][0]["cure"], "cure \"it\"");
}

}  // namespace datum::test
