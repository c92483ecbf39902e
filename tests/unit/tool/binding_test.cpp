// Binding a whole IOMMU group to vfio-pci and giving it back.
#include <gtest/gtest.h>

#include "tests/unit/tool/pci_sysfs.hpp"
#include "tools/datum/binding.hpp"
#include "tools/datum/binding_commands.hpp"

namespace datum::test {

namespace {

constexpr const char* card = "0000:03:00.0";
constexpr const char* neighbour = "0000:03:00.1";
constexpr const char* bridge = "0000:02:00.0";

}  // namespace

class Binding : public ::testing::Test {
 protected:
  Binding() {
    sysfs_.add(card, 12, "xdma");
    sysfs_.machine.files.add_folder("/sys/bus/pci/drivers/vfio-pci");
  }

  void TearDown() override { EXPECT_EQ(sysfs_.open_descriptors(), 0U); }

  [[nodiscard]] Status bind(bool whole_group = false) {
    const Result<tool::BindingPlan> plan = tool::plan_bind(sysfs_, card, whole_group);
    return plan ? tool::carry_out(sysfs_, *plan, true) : Status(plan.error());
  }

  [[nodiscard]] Status unbind() {
    const Result<tool::BindingPlan> plan = tool::plan_unbind(sysfs_, card);
    return plan ? tool::carry_out(sysfs_, *plan, false) : Status(plan.error());
  }

  PciSysfs sysfs_;
};

TEST_F(Binding, given_a_card_with_a_driver_when_bound_then_vfio_pci_has_it_and_a_second_time_writes_nothing) {
  ASSERT_TRUE(bind());
  EXPECT_EQ(sysfs_.driver_of(card), "vfio-pci");
  EXPECT_EQ(sysfs_.written.size(), 3U);
  EXPECT_TRUE(tool::plan_bind(sysfs_, card, false)->writes.empty());
}

TEST_F(Binding, given_a_plan_when_shown_then_each_write_is_a_line_for_the_shell_and_none_is_made) {
  EXPECT_EQ(tool::plan_text(*tool::plan_bind(sysfs_, card, false)),
            "echo vfio-pci > /sys/bus/pci/devices/0000:03:00.0/driver_override\n"
            "echo 0000:03:00.0 > /sys/bus/pci/devices/0000:03:00.0/driver/unbind\n"
            "echo 0000:03:00.0 > /sys/bus/pci/drivers_probe\n");
  EXPECT_TRUE(sysfs_.written.empty());
  EXPECT_EQ(sysfs_.driver_of(card), "xdma");
}

TEST_F(Binding, given_a_bound_card_when_unbound_then_its_own_driver_has_it_again) {
  ASSERT_TRUE(bind());
  ASSERT_TRUE(unbind());
  EXPECT_EQ(sysfs_.driver_of(card), "xdma");
  EXPECT_TRUE(tool::plan_unbind(sysfs_, card)->writes.empty());
}

TEST_F(Binding, given_a_neighbour_in_use_when_bound_then_it_is_refused_by_name_unless_the_group_is_meant) {
  sysfs_.add(neighbour, 12, "nvme");
  const Status refused = bind();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::handle_object_in_use);
  EXPECT_NE(refused.error().message.find("0000:03:00.1 (driver nvme)"), std::string::npos);
  EXPECT_TRUE(sysfs_.written.empty());
  ASSERT_TRUE(bind(true));
  EXPECT_EQ(sysfs_.driver_of(card), "vfio-pci");
  EXPECT_EQ(sysfs_.driver_of(neighbour), "vfio-pci");
  ASSERT_TRUE(unbind());
  EXPECT_EQ(sysfs_.driver_of(neighbour), "nvme");
}

TEST_F(Binding, given_a_neighbour_without_a_driver_when_bound_then_it_is_taken_and_a_bridge_is_not) {
  sysfs_.add(neighbour, 12, "");
  sysfs_.add(bridge, 12, "pcieport");
  ASSERT_TRUE(bind());
  EXPECT_EQ(sysfs_.driver_of(neighbour), "vfio-pci");
  EXPECT_EQ(sysfs_.driver_of(bridge), "pcieport");
}

TEST_F(Binding, given_a_write_that_is_refused_when_bound_then_every_device_has_its_driver_as_before) {
  sysfs_.add(neighbour, 12, "nvme");
  sysfs_.forbidden = {"/sys/bus/pci/devices/0000:03:00.1/driver/unbind"};
  const Status refused = bind(true);
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::insufficient_permissions);
  EXPECT_NE(refused.error().hint.find("root"), std::string::npos);
  EXPECT_EQ(sysfs_.driver_of(card), "xdma");
  EXPECT_EQ(sysfs_.driver_of(neighbour), "nvme");
}

TEST_F(Binding, given_a_card_that_vfio_pci_does_not_take_when_bound_then_it_is_told_and_handed_back) {
  sysfs_.vfio_takes_devices = false;
  const Status refused = bind();
  ASSERT_FALSE(refused);
  EXPECT_EQ(refused.error().code, ErrorCode::not_available);
  EXPECT_EQ(sysfs_.driver_of(card), "xdma");
}

TEST_F(Binding, given_what_keeps_a_card_from_being_bound_when_planned_then_it_is_told) {
  sysfs_.machine.files.remove("/sys/bus/pci/drivers/vfio-pci");
  EXPECT_NE(tool::plan_bind(sysfs_, card, false).error().hint.find("modprobe vfio-pci"), std::string::npos);
  sysfs_.machine.files.remove("/sys/bus/pci/devices/0000:03:00.0/iommu_group");
  EXPECT_EQ(tool::plan_bind(sysfs_, card, false).error().code, ErrorCode::dependency_unavailable);
  EXPECT_EQ(tool::plan_bind(sysfs_, "0000:09:00.0", false).error().code, ErrorCode::not_available);
  EXPECT_EQ(tool::plan_unbind(sysfs_, "0000:09:00.0").error().code, ErrorCode::not_available);
}

TEST_F(Binding, given_cards_by_id_when_looked_for_then_each_is_found) {
  EXPECT_EQ(tool::possible_cards(sysfs_), std::vector<std::string>{card});
}

}  // namespace datum::test
