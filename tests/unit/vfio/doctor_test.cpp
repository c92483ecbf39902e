// The checks, and what diagnose makes of them.
#include "tests/unit/vfio/card_test.hpp"
#include "vfio_backend/doctor.hpp"

namespace datum::test {

using vfio::Check;
using vfio::CheckNumber;
using vfio::CheckOutcome;

class Doctor : public CardTest {
 protected:
  [[nodiscard]] std::vector<Check> examine(const std::string& options = {}) {
    return vfio::examine_card(kernel_, *vfio::parse_card_address(std::string("vfio:") + card_pci + options));
  }

  [[nodiscard]] Check check(CheckNumber number, const std::string& options = {}) {
    return examine(options).at(static_cast<std::size_t>(number) - 1);
  }

  [[nodiscard]] std::string diagnose(const std::string& options = {}) {
    return vfio::diagnose_card(kernel_, std::string("vfio:") + card_pci + options);
  }

  void unbind() { kernel_.machine.files.remove(std::string("/sys/bus/pci/devices/") + card_pci + "/driver"); }

  void take_iommu_away() {
    kernel_.machine.files.remove(std::string("/sys/bus/pci/devices/") + card_pci + "/iommu_group");
    kernel_.machine.files.remove("/sys/class/iommu");
  }
};

TEST_F(Doctor, a_card_that_works_passes_every_check_and_nothing_is_left_open) {
  const auto checks = examine();
  ASSERT_EQ(checks.size(), 7U);
  for (std::size_t index = 0; index < checks.size(); ++index) {
    EXPECT_EQ(checks[index].number, index + 1);
    EXPECT_EQ(checks[index].outcome, CheckOutcome::passed)
        << checks[index].name << ": " << checks[index].finding;
    EXPECT_FALSE(checks[index].finding.empty());
    EXPECT_TRUE(checks[index].cure.empty());
  }
  EXPECT_EQ(kernel_.open_descriptors(), 0U);
  EXPECT_EQ(diagnose(), "");
}

TEST_F(Doctor, the_width_of_the_iommu_is_told) {
  EXPECT_TRUE(has(check(CheckNumber::iommu_on).finding, "39 bits"));
  kernel_.machine.files.remove(std::string("/sys/bus/pci/devices/") + card_pci + "/iommu");
  EXPECT_EQ(check(CheckNumber::iommu_on).outcome, CheckOutcome::passed);
}

TEST_F(Doctor, how_the_kernel_uses_the_iommu_is_told_and_none_of_it_is_a_failure) {
  const std::string file = "/sys/kernel/iommu_groups/12/type";
  for (const auto& [type, word] :
       {std::pair{"identity\n", "(pass-through)"}, {"DMA\n", "(strict)"}, {"DMA-FQ\n", "(lazy)"}}) {
    kernel_.machine.files.add_file(file, type);
    EXPECT_TRUE(has(check(CheckNumber::iommu_on).finding, word)) << check(CheckNumber::iommu_on).finding;
    EXPECT_EQ(check(CheckNumber::iommu_on).outcome, CheckOutcome::passed);
  }
  kernel_.machine.files.add_file(file, "something new\n");
  EXPECT_EQ(check(CheckNumber::iommu_on).finding, "an IOMMU serves it, with addresses of 39 bits");
}

TEST_F(Doctor, without_the_card_what_rests_on_it_is_skipped) {
  kernel_.machine.files.remove(std::string("/sys/bus/pci/devices/") + card_pci);
  const auto checks = examine();
  EXPECT_EQ(checks[0].outcome, CheckOutcome::failed);
  EXPECT_EQ(checks[1].outcome, CheckOutcome::skipped);
  EXPECT_EQ(checks[2].outcome, CheckOutcome::skipped);
  EXPECT_EQ(checks[3].outcome, CheckOutcome::skipped);
  EXPECT_EQ(checks[4].outcome, CheckOutcome::passed) << "the machine has an IOMMU";
  EXPECT_EQ(checks[5].outcome, CheckOutcome::passed);
  EXPECT_TRUE(has(diagnose(), "no PCI device 0000:03:00.0"));
}

TEST_F(Doctor, a_card_that_is_not_bound_fails_with_the_commands) {
  unbind();
  const Check bound = check(CheckNumber::driver_bound);
  EXPECT_EQ(bound.outcome, CheckOutcome::failed);
  EXPECT_TRUE(has(bound.cure, "drivers_probe"));
  EXPECT_EQ(check(CheckNumber::permission).outcome, CheckOutcome::skipped);
  EXPECT_TRUE(has(diagnose(), "bound to no driver"));
}

TEST_F(Doctor, an_iommu_that_is_off_is_named_before_the_binding_that_it_prevents) {
  unbind();
  take_iommu_away();
  EXPECT_EQ(check(CheckNumber::iommu_on).outcome, CheckOutcome::failed);
  EXPECT_EQ(check(CheckNumber::group_viable).outcome, CheckOutcome::skipped);
  EXPECT_TRUE(has(diagnose(), "the IOMMU is off"));
  EXPECT_TRUE(has(diagnose(), "intel_iommu=on"));
}

TEST_F(Doctor, no_iommu_mode_fails_the_check_of_the_iommu) {
  kernel_.machine.files.add_file("/sys/kernel/iommu_groups/12/name", "vfio-noiommu\n");
  EXPECT_EQ(check(CheckNumber::iommu_on).outcome, CheckOutcome::failed);
  EXPECT_TRUE(has(diagnose(), "no-IOMMU mode"));
}

TEST_F(Doctor, a_group_with_a_stranger_fails) {
  add_to_sysfs(kernel_.machine, "0000:03:00.1", card_group, 0x1234, 1, "nvme");
  EXPECT_EQ(check(CheckNumber::group_viable).outcome, CheckOutcome::failed);
  EXPECT_TRUE(has(diagnose(), "0000:03:00.1 (driver nvme)"));
}

TEST_F(Doctor, permission_for_either_interface_is_enough) {
  kernel_.machine.forbidden = {"/dev/vfio/devices/vfio0"};
  EXPECT_EQ(check(CheckNumber::permission).outcome, CheckOutcome::passed);
  EXPECT_EQ(check(CheckNumber::permission, ",iommufd").outcome, CheckOutcome::failed);
  kernel_.machine.forbidden.insert("/dev/vfio/12");
  const Check refused = check(CheckNumber::permission);
  EXPECT_EQ(refused.outcome, CheckOutcome::failed);
  EXPECT_TRUE(has(refused.finding, "may not open")) << refused.finding;
}

TEST_F(Doctor, permission_on_an_old_kernel_is_that_for_the_group) {
  kernel_.machine.traits.own_nodes = false;
  EXPECT_EQ(check(CheckNumber::permission).outcome, CheckOutcome::passed);
  kernel_.machine.forbidden = {"/dev/vfio/12"};
  const Check refused = check(CheckNumber::permission);
  EXPECT_EQ(refused.outcome, CheckOutcome::failed);
  EXPECT_TRUE(has(refused.finding, "/dev/vfio/12")) << refused.finding;
}

TEST_F(Doctor, a_card_in_use_is_told_by_the_check_or_by_opening) {
  open();
  EXPECT_TRUE(has(diagnose(), "in use"));
  EXPECT_TRUE(has(diagnose(",container"), "in use"));
  function_.reset();
  open(",container");
  EXPECT_TRUE(has(diagnose(",container"), "in use"));
}

TEST_F(Doctor, little_lockable_memory_warns_and_too_little_fails_but_the_card_opens) {
  kernel_.machine.traits.memlock_bytes = 8U << 20U;
  EXPECT_EQ(check(CheckNumber::locked_memory).outcome, CheckOutcome::warning);
  EXPECT_TRUE(has(check(CheckNumber::locked_memory).finding, "8 MiB"));
  kernel_.machine.traits.memlock_bytes = 64U << 10U;
  const Check failed = check(CheckNumber::locked_memory);
  EXPECT_EQ(failed.outcome, CheckOutcome::failed);
  EXPECT_TRUE(has(failed.finding, "64 KiB"));
  EXPECT_TRUE(has(failed.cure, "memlock unlimited"));
  kernel_.machine.traits.memlock_bytes = 0;
  EXPECT_EQ(check(CheckNumber::locked_memory).outcome, CheckOutcome::failed);
  EXPECT_EQ(diagnose(), "");
}

TEST_F(Doctor, the_interface_that_will_be_used_is_told) {
  EXPECT_TRUE(has(check(CheckNumber::kernel_interface).finding, "iommufd"));
  EXPECT_TRUE(has(check(CheckNumber::kernel_interface, ",container").finding, "container"));
  kernel_.machine.traits.iommufd = false;
  EXPECT_TRUE(has(check(CheckNumber::kernel_interface).finding, "container"));
  EXPECT_EQ(check(CheckNumber::kernel_interface, ",iommufd").outcome, CheckOutcome::failed);
  kernel_.machine.traits.container = false;
  EXPECT_EQ(check(CheckNumber::kernel_interface).outcome, CheckOutcome::failed);
}

TEST_F(Doctor, what_only_opening_shows_is_told_too) {
  kernel_.machine.traits.interrupt_remapping = false;
  for (const Check& each : examine()) {
    EXPECT_EQ(each.outcome, CheckOutcome::passed) << each.finding;
  }
  EXPECT_TRUE(has(diagnose(), "no interrupt remapping"));
}

}  // namespace datum::test
