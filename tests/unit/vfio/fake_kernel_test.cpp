// That the fake kernel keeps VFIO's rules: what the backend is never seen to break has to be refused when it
// is tried by hand.
#include <fcntl.h>
#include <linux/vfio.h>

#include "tests/unit/vfio/card_test.hpp"
#include "vfio_backend/uapi/iommufd.hpp"
#include "vfio_backend/uapi/vfio_cdev.hpp"

namespace datum::test {

namespace uapi = vfio::uapi;

class FakeKernelRules : public CardTest {
 protected:
  int ioctl(int fd, unsigned long request, void* argument) { return kernel_.ioctl(fd, request, argument); }

  int open_node(const std::string& path) { return kernel_.open(path, O_RDWR); }

  int device_info(int fd) {
    vfio_device_info info{};
    info.argsz = sizeof info;
    return ioctl(fd, VFIO_DEVICE_GET_INFO, &info);
  }

  void* const type1_v2_ = reinterpret_cast<void*>(std::uintptr_t{VFIO_TYPE1v2_IOMMU});
};

TEST_F(FakeKernelRules, a_container_takes_its_steps_in_order_only) {
  int container = open_node("/dev/vfio/vfio");
  const int group = open_node("/dev/vfio/12");
  std::string name = card_pci;
  vfio_iommu_type1_dma_map map{};
  map.argsz = sizeof map;
  EXPECT_EQ(ioctl(container, VFIO_SET_IOMMU, type1_v2_), -EINVAL) << "no group yet";
  EXPECT_EQ(ioctl(container, VFIO_IOMMU_MAP_DMA, &map), -EINVAL) << "no IOMMU yet";
  EXPECT_EQ(ioctl(group, VFIO_GROUP_GET_DEVICE_FD, name.data()), -EINVAL) << "no container yet";
  ASSERT_EQ(ioctl(group, VFIO_GROUP_SET_CONTAINER, &container), 0);
  EXPECT_EQ(ioctl(group, VFIO_GROUP_GET_DEVICE_FD, name.data()), -EINVAL) << "no IOMMU yet";
  ASSERT_EQ(ioctl(container, VFIO_SET_IOMMU, type1_v2_), 0);
  std::string other = "0000:09:00.0";
  EXPECT_EQ(ioctl(group, VFIO_GROUP_GET_DEVICE_FD, other.data()), -ENODEV);
  const int device = ioctl(group, VFIO_GROUP_GET_DEVICE_FD, name.data());
  ASSERT_GE(device, 0);
  EXPECT_EQ(device_info(device), 0);
  EXPECT_EQ(open_node("/dev/vfio/12"), -EBUSY) << "a group is opened once";
  for (const int fd : {device, group, container}) {
    kernel_.close(fd);
  }
}

TEST_F(FakeKernelRules, a_device_node_is_of_no_use_before_it_is_bound_and_attached) {
  const int node = open_node("/dev/vfio/devices/vfio0");
  const int iommufd = open_node("/dev/iommu");
  EXPECT_EQ(device_info(node), -EINVAL);
  uapi::DeviceAttachIommufdPt attach;
  attach.pt_id = 2;
  EXPECT_EQ(ioctl(node, uapi::device_attach_iommufd_pt, &attach), -EINVAL);
  uapi::DeviceBindIommufd bind;
  bind.iommufd = node;
  EXPECT_EQ(ioctl(node, uapi::device_bind_iommufd, &bind), -EBADF) << "not an iommufd";
  bind.iommufd = iommufd;
  ASSERT_EQ(ioctl(node, uapi::device_bind_iommufd, &bind), 0);
  EXPECT_EQ(device_info(node), 0);
  EXPECT_EQ(ioctl(node, uapi::device_attach_iommufd_pt, &attach), -ENOENT) << "no such address space";
  EXPECT_EQ(ioctl(node, uapi::device_bind_iommufd, &bind), -EINVAL) << "bound once only";
  for (const int fd : {node, iommufd}) {
    kernel_.close(fd);
  }
}

TEST_F(FakeKernelRules, unmap_takes_whole_mappings_and_tells_how_much) {
  for (const auto flavour : {IommuRules::Flavour::type1, IommuRules::Flavour::iommufd}) {
    IommuRules space(kernel_.machine, flavour);
    Mapping host = host_pages(0x4000);
    ASSERT_EQ(space.map(Iova{0x10000}, host.span().first(0x2000), board::DmaAccess::read_write), 0);
    ASSERT_EQ(space.map(Iova{0x12000}, host.span().last(0x2000), board::DmaAccess::read_write), 0);
    EXPECT_EQ(space.map(Iova{0x11000}, host.span().first(0x1000), board::DmaAccess::read), -EEXIST);
    std::uint64_t bytes = 0x1000;
    EXPECT_EQ(space.unmap(Iova{0x10000}, bytes), flavour == IommuRules::Flavour::type1 ? -EINVAL : -ENOENT);
    bytes = 0x100000;
    EXPECT_EQ(space.unmap(Iova{0}, bytes), 0);
    EXPECT_EQ(bytes, 0x4000U);
    bytes = 0x100000;
    EXPECT_EQ(space.unmap(Iova{0}, bytes), flavour == IommuRules::Flavour::type1 ? 0 : -ENOENT);
    EXPECT_EQ(bytes, 0U);
  }
}

TEST_F(FakeKernelRules, a_program_that_leaves_dma_or_interrupts_on_is_complained_of) {
  open();
  auto& complaints = kernel_.machine.complaints;
  slot_->config[4] = 0x06;
  kernel_.fail_call(1, EIO);  // the write that turns DMA off
  function_.reset();
  ASSERT_EQ(complaints.size(), 1U);
  EXPECT_TRUE(has(complaints[0], "bus master"));
  kernel_.close(9999);
  ASSERT_EQ(complaints.size(), 2U);
  complaints.clear();
}

}  // namespace datum::test
