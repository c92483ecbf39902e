// Cards that cannot be opened: each with a code, a sentence that names what is in the way, and a cure.
#include <linux/vfio.h>

#include "tests/unit/vfio/card_test.hpp"
#include "vfio_backend/uapi/vfio_cdev.hpp"

namespace datum::test {

class Refusal : public EitherInterface {
 protected:
  void expect(ErrorCode code, std::initializer_list<const char*> message_parts, const char* cure) {
    const Error error = refused();
    EXPECT_EQ(error.code, code) << error.message;
    for (const char* part : message_parts) {
      EXPECT_TRUE(has(error.message, part)) << "'" << part << "' is not in: " << error.message;
    }
    EXPECT_TRUE(has(error.hint, cure)) << "'" << cure << "' is not in: " << error.hint;
  }

  void set_driver(const std::string& driver) {
    const std::string link = std::string("/sys/bus/pci/devices/") + card_pci + "/driver";
    kernel_.machine.files.remove(link);
    if (!driver.empty()) {
      kernel_.machine.files.add_link(link, "/sys/bus/pci/drivers/" + driver);
    }
  }

  /// Another process has `node` open.
  void hold(const std::string& node) {
    kernel_.machine.files.add_link("/proc/4711/fd/9", node);
    kernel_.machine.files.add_file("/proc/4711/comm", "python3\n");
  }
};

DATUM_THROUGH_EITHER(Refusal);

TEST_P(Refusal, no_such_device) {
  kernel_.machine.files.remove(std::string("/sys/bus/pci/devices/") + card_pci);
  expect(ErrorCode::not_available, {"no PCI device 0000:03:00.0"}, "lspci -D");
}

TEST_P(Refusal, bound_to_another_driver) {
  set_driver("xdma");
  expect(ErrorCode::not_available, {card_text, "bound to the driver 'xdma'", "must be bound to vfio-pci"},
         "echo 0000:03:00.0 > /sys/bus/pci/devices/0000:03:00.0/driver/unbind");
}

TEST_P(Refusal, bound_to_no_driver) {
  set_driver("");
  expect(ErrorCode::not_available, {card_text, "bound to no driver"}, "driver_override");
  EXPECT_FALSE(has(refused().hint, "unbind"));
}

TEST_P(Refusal, the_iommu_is_off) {
  kernel_.machine.files.remove(std::string("/sys/bus/pci/devices/") + card_pci + "/iommu_group");
  kernel_.machine.files.remove("/sys/class/iommu");
  set_driver("");
  expect(ErrorCode::dependency_unavailable, {card_text, "in no IOMMU group", "the IOMMU is off"},
         "intel_iommu=on");
}

TEST_P(Refusal, the_iommu_does_not_serve_the_slot) {
  kernel_.machine.files.remove(std::string("/sys/bus/pci/devices/") + card_pci + "/iommu_group");
  expect(ErrorCode::dependency_unavailable, {"no IOMMU serves its slot"}, "VT-d");
}

TEST_P(Refusal, no_iommu_mode_by_the_name_of_the_group) {
  kernel_.machine.files.add_file("/sys/kernel/iommu_groups/12/name", "vfio-noiommu\n");
  expect(ErrorCode::dependency_unavailable,
         {card_text, "no-IOMMU mode", "nothing confines", "no I/O addresses"}, "intel_iommu=on");
}

TEST_P(Refusal, no_iommu_mode_by_the_name_of_the_node) {
  const std::string folder = std::string("/sys/bus/pci/devices/") + card_pci;
  kernel_.machine.files.remove(folder + "/vfio-dev");
  kernel_.machine.files.add_folder(folder + "/vfio-dev/noiommu-vfio0");
  expect(ErrorCode::dependency_unavailable, {"no-IOMMU mode"}, "intel_iommu=on");
}

TEST_P(Refusal, a_group_that_is_not_viable_is_told_with_its_members_and_their_drivers) {
  add_to_sysfs(kernel_.machine, "0000:03:00.1", card_group, 0x1234, 0x0001, "snd_hda_intel");
  add_to_sysfs(kernel_.machine, "0000:02:00.0", card_group, 0x8086, 0x0002, "pcieport");
  add_to_sysfs(kernel_.machine, "0000:03:00.2", card_group, 0x1234, 0x0003, "");
  expect(ErrorCode::not_available,
         {card_text, "IOMMU group 12", "not viable", "in the way is 0000:03:00.1 (driver snd_hda_intel)",
          "0000:02:00.0 (driver pcieport)", "0000:03:00.0 (driver vfio-pci)", "0000:03:00.2 (no driver)"},
         "bind the others to vfio-pci");
}

TEST_P(Refusal, harmless_neighbours_are_no_obstacle) {
  add_to_sysfs(kernel_.machine, "0000:02:00.0", card_group, 0x8086, 0x0002, "pcieport");
  add_to_sysfs(kernel_.machine, "0000:03:00.1", card_group, 0x1234, 0x0003, "");
  add_to_sysfs(kernel_.machine, "0000:03:00.2", card_group, 0x1234, 0x0003, "vfio-pci");
  open_it();
  EXPECT_TRUE(function_->health());
}

TEST_P(Refusal, no_permission_for_a_node_names_the_node_and_a_rule) {
  const std::string node = through_iommufd() ? "/dev/vfio/devices/vfio0" : "/dev/vfio/12";
  kernel_.machine.forbidden = {node};
  expect(ErrorCode::insufficient_permissions, {card_text, "this user may not open", node.c_str()},
         "datum udev-rule");
}

TEST_P(Refusal, no_permission_for_the_iommu) {
  const std::string node = through_iommufd() ? "/dev/iommu" : "/dev/vfio/vfio";
  kernel_.machine.forbidden = {node};
  expect(ErrorCode::insufficient_permissions, {node.c_str()}, "usermod -aG datum");
}

TEST_P(Refusal, a_card_that_another_process_has_is_told_with_the_process) {
  if (through_iommufd()) {
    slot_->opened = true;
    hold("/dev/vfio/devices/vfio0");
  } else {
    kernel_.machine.open_groups.insert(card_group);
    hold("/dev/vfio/12");
  }
  expect(ErrorCode::not_available, {card_text, "in use", "held by process 4711 (python3)"},
         "one process at a time");
  slot_->opened = false;
  kernel_.machine.open_groups.clear();
}

TEST_P(Refusal, a_card_that_was_opened_in_the_other_way_is_in_use_as_well) {
  auto other = try_open(through_iommufd() ? ",container" : ",iommufd");
  ASSERT_TRUE(other);
  kernel_.machine.files.add_link("/proc/self", "4711");
  hold(through_iommufd() ? "/dev/vfio/12" : "/dev/vfio/devices/vfio0");
  expect(ErrorCode::not_available, {"in use", "held by this process"}, "one process at a time");
}

TEST_P(Refusal, a_holder_that_cannot_be_seen_is_told_as_such) {
  slot_->opened = true;
  kernel_.machine.files.add_file("/proc/1/comm", "systemd");
  expect(ErrorCode::not_available, {"in use", "a process of another user", "fuser -v"}, "one process");
  slot_->opened = false;
}

TEST_P(Refusal, interrupts_that_cannot_be_confined) {
  kernel_.machine.traits.interrupt_remapping = false;
  expect(ErrorCode::dependency_unavailable, {card_text, "no interrupt remapping"},
         "allow_unsafe_interrupts=1");
}

TEST_P(Refusal, a_node_of_the_wrong_number_is_named) {
  kernel_.fail_ioctl(through_iommufd() ? vfio::uapi::device_bind_iommufd : VFIO_GROUP_GET_STATUS, ENOTTY);
  const Error error = refused();
  EXPECT_EQ(error.code, ErrorCode::dependency_unavailable);
  EXPECT_TRUE(has(error.message, through_iommufd() ? "/dev/vfio/devices/vfio0 is not the node"
                                                   : "/dev/vfio/12 is not the node"))
      << error.message;
  EXPECT_TRUE(has(error.hint, "--device")) << error.hint;
}

TEST_P(Refusal, a_node_for_the_iommu_that_is_something_else_is_named) {
  kernel_.fail_ioctl(through_iommufd() ? vfio::uapi::device_bind_iommufd : VFIO_GET_API_VERSION,
                     through_iommufd() ? EBADFD : ENOTTY);
  const Error error = refused();
  EXPECT_EQ(error.code, ErrorCode::dependency_unavailable);
  EXPECT_TRUE(
      has(error.message, through_iommufd() ? "/dev/iommu is not the node" : "/dev/vfio/vfio is not the node"))
      << error.message;
}

TEST_P(Refusal, a_kernel_without_the_interface) {
  kernel_.machine.traits.iommufd = false;
  kernel_.machine.traits.container = false;
  expect(ErrorCode::dependency_unavailable, {card_text, "the kernel has no"}, "modprobe");
}

TEST_P(Refusal, failures_without_a_sentence_of_their_own_carry_the_kernels_word) {
  kernel_.fail_ioctl(VFIO_DEVICE_GET_INFO, EIO);
  const Error error = refused();
  EXPECT_EQ(error.errno_value, EIO);
  EXPECT_TRUE(has(error.message, "Input/output error")) << error.message;
}

class ContainerRefusal : public CardTest {};

TEST_F(ContainerRefusal, a_container_without_type_1) {
  kernel_.machine.traits.type1_v2 = false;
  const Error error = refusal(",container");
  EXPECT_EQ(error.code, ErrorCode::dependency_unavailable);
  EXPECT_TRUE(has(error.hint, "modprobe vfio_iommu_type1"));
}

TEST_F(ContainerRefusal, a_kernel_that_does_not_tell_its_ranges) {
  kernel_.machine.traits.iova_capability = false;
  const Error error = refusal(",container");
  EXPECT_EQ(error.code, ErrorCode::dependency_unavailable);
  EXPECT_TRUE(has(error.message, "does not say which I/O addresses"));
}

TEST_F(ContainerRefusal, without_a_forced_interface_missing_permission_for_the_newer_one_is_told) {
  kernel_.machine.forbidden = {"/dev/vfio/devices/vfio0", "/dev/vfio/12"};
  const Error error = refusal();
  EXPECT_EQ(error.code, ErrorCode::insufficient_permissions);
  EXPECT_TRUE(has(error.message, "/dev/vfio/devices/vfio0")) << error.message;
}

TEST_F(ContainerRefusal, nothing_is_bound_and_nothing_was_named) {
  kernel_.machine.files.remove("/sys/bus/pci/drivers/vfio-pci");
  const auto opened = vfio::open_card(kernel_, "vfio:");
  ASSERT_FALSE(opened);
  EXPECT_EQ(opened.error().code, ErrorCode::not_available);
  EXPECT_TRUE(has(opened.error().message, "no PCI device of this machine is bound to vfio-pci"));
}

}  // namespace datum::test
