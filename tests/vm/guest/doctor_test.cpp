// `datum doctor` in a machine in which one thing at a time is broken.
#include <cstdio>
#include <map>

#include <nlohmann/json.hpp>

#include "tests/vm/guest/guest_test.hpp"

namespace datum::test {
namespace {

constexpr std::uint64_t plenty = 1ULL << 30U;

class Doctor : public GuestTest {
 protected:
  struct Report {
    int status = -1;
    std::vector<unsigned> failed;
    std::vector<unsigned> warned;
    std::map<unsigned, std::string> findings;
    std::string text;
  };

  /// Leaves out whether the driver opens the board, which is bound to fail with the rest: that has a test of
  /// its own.
  [[nodiscard]] Report examine(const Rights& rights) const {
    const ChildOutcome outcome = run(tool({"doctor", "vfio:" + card_, "--json"}), rights);
    Report report{outcome.exit_status, {}, {}, {}, outcome.describe()};
    const nlohmann::json object = nlohmann::json::parse(outcome.output, nullptr, false);
    if (!object.is_object()) {
      return report;
    }
    EXPECT_EQ(object.value("status", -1), outcome.exit_status);
    constexpr unsigned driver_opens_board = 10;
    for (const auto& check : object["checks"]) {
      const unsigned number = check.value("number", 0U);
      const std::string word = check.value("outcome", "");
      report.findings[number] = check.value("finding", "");
      if (word == "failed" && number != driver_opens_board) {
        report.failed.push_back(number);
        EXPECT_NE(check.value("cure", ""), "") << "a failure without a cure: " << number;
      } else if (word == "warning") {
        report.warned.push_back(number);
      }
    }
    return report;
  }

  /// `broken` and nothing else fails.
  static void expect_only(unsigned broken, const Report& report) {
    EXPECT_EQ(report.status, 2) << report.text;
    EXPECT_EQ(report.failed, std::vector<unsigned>{broken}) << report.text;
  }
};

TEST_F(Doctor, given_nothing_is_broken_when_root_asks_then_all_is_well) {
  const Report report = examine({});
  EXPECT_EQ(report.status, 0) << report.text;
  EXPECT_TRUE(has(report.findings.at(5), "bits")) << report.findings.at(5);
}

TEST_F(Doctor, given_permission_and_memory_when_an_ordinary_user_asks_then_all_is_well) {
  set_nodes(card_, ordinary_group, 0660);
  const Report report = examine(ordinary_user(plenty));
  EXPECT_EQ(report.status, 0) << report.text;
}

TEST_F(Doctor, given_what_systemd_lets_a_user_lock_when_asked_then_it_warns_and_the_card_works) {
  set_nodes(card_, ordinary_group, 0660);
  const Report report = examine(ordinary_user(8U << 20U));
  EXPECT_EQ(report.status, 1) << report.text;
  EXPECT_EQ(report.warned, std::vector<unsigned>{6}) << report.text;
}

TEST_F(Doctor, given_too_little_lockable_memory_when_asked_then_that_is_named) {
  set_nodes(card_, ordinary_group, 0660);
  const Report report = examine(ordinary_user(64U << 10U));
  expect_only(6, report);
  EXPECT_TRUE(has(report.findings.at(6), "64 KiB")) << report.findings.at(6);
}

TEST_F(Doctor, given_no_permission_when_asked_then_that_is_named) {
  const Report report = examine(ordinary_user(plenty));
  expect_only(4, report);
  EXPECT_TRUE(has(report.findings.at(4), "may not open /dev/")) << report.findings.at(4);
}

TEST_F(Doctor, given_a_card_without_a_driver_when_asked_then_that_is_named) {
  give_back(card_);
  expect_only(2, examine({}));
}

TEST_F(Doctor, given_a_card_that_is_not_there_when_asked_then_that_is_named) {
  const ChildOutcome outcome = run(tool({"doctor", "vfio:0000:7f:00.0"}));
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_TRUE(has(outcome.output, " 1  failed   card found: there is no PCI device 0000:7f:00.0"))
      << outcome.describe();
}

TEST_F(Doctor, given_a_kernel_without_its_nodes_when_asked_then_the_interface_is_named) {
  ASSERT_EQ(std::rename("/dev/iommu", "/dev/iommu.away"), 0);
  ASSERT_EQ(std::rename("/dev/vfio/vfio", "/dev/vfio/vfio.away"), 0);
  const Report report = examine({});
  std::rename("/dev/iommu.away", "/dev/iommu");
  std::rename("/dev/vfio/vfio.away", "/dev/vfio/vfio");
  expect_only(7, report);
}

TEST_F(Doctor, given_only_the_older_interface_when_asked_then_all_is_well_and_it_is_told) {
  ASSERT_EQ(std::rename("/dev/iommu", "/dev/iommu.away"), 0);
  const Report report = examine({});
  std::rename("/dev/iommu.away", "/dev/iommu");
  EXPECT_EQ(report.status, 0) << report.text;
  EXPECT_TRUE(has(report.findings.at(7), "container")) << report.findings.at(7);
}

TEST_F(Doctor, given_a_driver_that_the_loader_does_not_find_when_asked_then_that_is_named) {
  expect_only(9, examine({false, {}, {{"ZE_ENABLE_ALT_DRIVERS", "/nowhere/libze_datum.so"}}}));
}

TEST_F(Doctor, given_a_card_in_use_when_asked_then_its_holder_is_named) {
  Program holder(scenario("hold"), {false, {}, on_card()});
  ASSERT_EQ(holder.read_line(), "ready") << holder.end().describe();
  const ChildOutcome outcome = run(tool({"doctor", "vfio:" + card_}));
  EXPECT_EQ(outcome.exit_status, 2);
  EXPECT_TRUE(has(outcome.output, "is held by process " + std::to_string(holder.process())))
      << outcome.describe();
  EXPECT_TRUE(holder.end().succeeded());
}

class IommuMode : public Doctor {};

TEST_F(IommuMode, given_the_kernels_choice_when_asked_then_it_is_told_and_the_card_works) {
  const bool pass_through = has(read_file("/proc/cmdline"), "iommu=pt");
  const Report report = examine({});
  EXPECT_EQ(report.status, 0) << report.text;
  const std::string& finding = report.findings.at(5);
  EXPECT_EQ(has(finding, "(pass-through)"), pass_through) << finding;
  EXPECT_EQ(has(finding, "(strict)") || has(finding, "(lazy)"), !pass_through) << finding;
  const ChildOutcome copy = run(scenario("copy"), {false, {}, on_card()});
  EXPECT_TRUE(copy.succeeded()) << copy.describe();
}

}  // namespace
}  // namespace datum::test
