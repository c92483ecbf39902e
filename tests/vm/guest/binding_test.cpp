// `datum bind`, `unbind`, `status` and `udev-rule` on the kernel's own drivers.
#include <csignal>
#include <filesystem>
#include <grp.h>
#include <sstream>
#include <sys/stat.h>
#include <unistd.h>

#include "tests/vm/guest/guest_test.hpp"

namespace datum::test {
namespace {

class Binding : public GuestTest {
 protected:
  void SetUp() override {
    GuestTest::SetUp();
    for (const std::string& card : cards()) {
      give_back(card);
    }
  }
};

TEST_F(Binding, given_a_card_without_a_driver_when_it_is_bound_then_programs_use_it) {
  EXPECT_TRUE(has(run(tool({"status"})).output, "no driver"));
  const ChildOutcome before = run(scenario("copy"), {false, {}, on_card()});
  EXPECT_TRUE(has(before.errors, "is bound to no driver")) << before.describe();

  const ChildOutcome plan = run(tool({"bind", card_, "--dry-run"}));
  EXPECT_TRUE(plan.succeeded() &&
              has(plan.output, "echo vfio-pci > " + device_file(card_, "driver_override")))
      << plan.describe();
  EXPECT_EQ(driver_of(card_), "") << "a dry run writes nothing";

  const ChildOutcome bound = run(tool({"bind", card_}));
  EXPECT_TRUE(bound.succeeded()) << bound.describe();
  EXPECT_EQ(driver_of(card_), "vfio-pci");
  EXPECT_TRUE(has(run(tool({"bind", card_})).output, "nothing to do"));
  const ChildOutcome after = run(scenario("copy"), {false, {}, on_card()});
  EXPECT_TRUE(after.succeeded()) << after.describe();
}

TEST_F(Binding, given_the_lines_of_a_dry_run_when_a_shell_runs_them_then_the_card_is_bound) {
  const ChildOutcome plan = run(tool({"bind", card_, "--dry-run"}));
  const ChildOutcome done = run({"/bin/sh", "-e", "-c", plan.output});
  EXPECT_TRUE(done.succeeded()) << done.describe();
  EXPECT_EQ(driver_of(card_), "vfio-pci");
}

TEST_F(Binding, given_a_bound_card_when_it_is_unbound_then_nothing_of_the_binding_is_left) {
  ASSERT_TRUE(run(tool({"bind", card_})).succeeded());
  const ChildOutcome undone = run(tool({"unbind", card_}));
  EXPECT_TRUE(undone.succeeded()) << undone.describe();
  EXPECT_EQ(driver_of(card_), "");
  EXPECT_EQ(read_file(device_file(card_, "driver_override")), "(null)");
  EXPECT_TRUE(has(run(tool({"unbind", card_})).output, "nothing to do"));
}

TEST_F(Binding, given_an_ordinary_user_when_binding_then_it_is_refused_with_the_cure) {
  const ChildOutcome refused = run(tool({"bind", card_}), ordinary_user(8U << 20U));
  EXPECT_EQ(refused.exit_status, 2) << refused.describe();
  EXPECT_TRUE(has(refused.errors, "run it as root")) << refused.describe();
  EXPECT_EQ(driver_of(card_), "");
}

TEST_F(Binding, given_a_device_that_is_not_there_when_binding_then_it_is_refused_by_name) {
  const ChildOutcome refused = run(tool({"bind", "0000:7f:00.0"}));
  EXPECT_EQ(refused.exit_status, 2);
  EXPECT_TRUE(has(refused.errors, "there is no PCI device 0000:7f:00.0")) << refused.describe();
}

/// What udev does with a rule of the form KEY=="value", GROUP="name", MODE="0660": to each node that it
/// names.
void obey(const std::string& rules, unsigned group) {
  namespace files = std::filesystem;
  std::istringstream lines(rules);
  for (std::string line; std::getline(lines, line);) {
    const auto value = [&](const std::string& key) {
      const std::size_t at = line.find(key + '"');
      const std::size_t begin = at + key.size() + 1;
      return at == std::string::npos ? std::string{} : line.substr(begin, line.find('"', begin) - begin);
    };
    const auto mode = static_cast<mode_t>(std::stoul(value("MODE="), nullptr, 8));
    for (const auto& device : files::directory_iterator("/sys/class/" + value("SUBSYSTEM=="))) {
      const std::string wanted = value("KERNEL==");
      const std::string uevent = read_file(device.path() / "uevent");
      const std::size_t name = uevent.find("DEVNAME=");
      if ((!wanted.empty() && wanted != device.path().filename()) || name == std::string::npos) {
        continue;
      }
      const std::string node = "/dev/" + uevent.substr(name + 8, uevent.find('\n', name) - name - 8);
      EXPECT_TRUE(::chown(node.c_str(), 0, group) == 0 && ::chmod(node.c_str(), mode) == 0) << node;
    }
  }
}

TEST_F(Binding,
       given_the_udev_rule_when_it_is_obeyed_then_members_of_the_group_use_the_card_and_others_do_not) {
  ASSERT_TRUE(run(tool({"bind", card_})).succeeded());
  for (const std::string& node : nodes_of(card_)) {
    ASSERT_EQ(::chmod(node.c_str(), 0600), 0);
  }
  for (const char* interface : {",iommufd", ",container"}) {
    const ChildOutcome before = run(scenario("copy"), ordinary_user(8U << 20U, interface));
    EXPECT_TRUE(has(before.errors, "this user may not open /dev/")) << before.describe();
  }
  const ChildOutcome rules = run(tool({"udev-rule", "--group", "user"}));
  EXPECT_EQ(rules.output.find("GROUP=\"user\""), rules.output.find("GROUP=")) << rules.output;
  obey(rules.output, ordinary_group);
  for (const char* interface : {",iommufd", ",container"}) {
    const ChildOutcome after = run(scenario("copy"), ordinary_user(8U << 20U, interface));
    EXPECT_TRUE(after.succeeded()) << after.describe();
  }
  obey(rules.output, ordinary_group + 1);
  const ChildOutcome stranger = run(scenario("copy"), ordinary_user(8U << 20U));
  EXPECT_TRUE(has(stranger.errors, "this user may not open /dev/")) << stranger.describe();
}

/// A machine whose first card shares its group with a serial port and a bridge.
class SharedGroup : public GuestTest {
 protected:
  void SetUp() override {
    ASSERT_FALSE(cards().empty());
    card_ = cards().front();
    give_back(card_);
    for (const std::string& neighbour : neighbours_of(card_)) {
      if (driver_of(neighbour) == "vfio-pci") {
        give_back(neighbour);
      }
      if (driver_of(neighbour) == "serial") {
        port_ = neighbour;
      }
    }
    ASSERT_FALSE(port_.empty()) << "no serial port shares the card's group";
  }

  std::string port_;
};

TEST_F(SharedGroup, given_a_neighbour_in_use_when_binding_then_it_is_named_and_keeps_its_driver) {
  const ChildOutcome refused = run(tool({"bind", card_}));
  EXPECT_EQ(refused.exit_status, 2) << refused.describe();
  EXPECT_TRUE(has(refused.errors, port_ + " (driver serial)")) << refused.describe();
  EXPECT_EQ(driver_of(card_), "");
  EXPECT_EQ(driver_of(port_), "serial");
}

TEST_F(SharedGroup,
       given_the_card_alone_is_bound_when_it_is_opened_then_the_neighbour_is_named_and_no_bridge) {
  give_to_vfio(card_);
  for (const char* interface : {",iommufd", ",container"}) {
    const ChildOutcome refused = run(scenario("copy"), {false, {}, on_card(interface)});
    EXPECT_TRUE(has(refused.errors, "is not viable")) << refused.describe();
    EXPECT_TRUE(has(refused.errors, "in the way is " + port_ + " (driver serial)")) << refused.describe();
  }
  const ChildOutcome doctor = run(tool({"doctor", "vfio:" + card_}));
  EXPECT_EQ(doctor.exit_status, 2);
  EXPECT_TRUE(has(doctor.output, " 3  failed   group viable")) << doctor.describe();
}

TEST_F(SharedGroup,
       given_the_whole_group_is_bound_when_it_is_used_then_it_works_and_unbinding_gives_all_back) {
  const ChildOutcome bound = run(tool({"bind", card_, "--whole-group"}));
  ASSERT_TRUE(bound.succeeded()) << bound.describe();
  EXPECT_EQ(driver_of(card_), "vfio-pci");
  EXPECT_EQ(driver_of(port_), "vfio-pci");
  const ChildOutcome used = run(scenario("copy"), {false, {}, on_card()});
  EXPECT_TRUE(used.succeeded()) << used.describe();
  const ChildOutcome undone = run(tool({"unbind", card_}));
  EXPECT_TRUE(undone.succeeded()) << undone.describe();
  EXPECT_EQ(driver_of(card_), "");
  EXPECT_EQ(driver_of(port_), "serial");
}

/// A machine without an IOMMU.
TEST(WithoutIommu, given_no_iommu_when_binding_then_it_is_refused_before_anything_is_written) {
  ASSERT_FALSE(cards().empty());
  const std::string card = cards().front();
  ASSERT_EQ(driver_of(card), "");
  const ChildOutcome refused = run(tool({"bind", card}));
  EXPECT_EQ(refused.exit_status, 2) << refused.describe();
  EXPECT_TRUE(has(refused.errors, "the IOMMU is off")) << refused.describe();
  EXPECT_EQ(driver_of(card), "");
  EXPECT_EQ(read_file(device_file(card, "driver_override")), "(null)");
  const ChildOutcome doctor = run(tool({"doctor", "vfio:" + card}));
  EXPECT_EQ(doctor.exit_status, 2);
  EXPECT_TRUE(has(doctor.output, " 5  failed   IOMMU on")) << doctor.describe();
}

}  // namespace
}  // namespace datum::test
