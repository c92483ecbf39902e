// Nodes that are there and lead nowhere, as containers come to have them.
#include <cstdio>
#include <sys/stat.h>
#include <sys/sysmacros.h>
#include <unistd.h>

#include "tests/vm/guest/guest_test.hpp"

namespace datum::test {
namespace {

class WrongNode : public ThroughEither {
 protected:
  void SetUp() override {
    GuestTest::SetUp();
    // The IOMMU's, the device's own, the group's.
    const std::vector<std::string> nodes = nodes_of(card_);
    ASSERT_EQ(nodes.size(), 3U);
    node_ = forced() == ",iommufd" ? nodes[1] : nodes[2];
    ASSERT_EQ(::stat(node_.c_str(), &right_), 0);
    ASSERT_EQ(std::rename(node_.c_str(), away().c_str()), 0);
  }

  void TearDown() override {
    ::unlink(node_.c_str());
    EXPECT_EQ(std::rename(away().c_str(), node_.c_str()), 0);
  }

  [[nodiscard]] std::string away() const { return node_ + ".away"; }

  void make_node(dev_t number) const { ASSERT_EQ(::mknod(node_.c_str(), S_IFCHR | 0600U, number), 0); }

  [[nodiscard]] ChildOutcome copy() const { return run(scenario("copy"), {false, {}, on_card(forced())}); }

  std::string node_;

  struct stat right_ {};
};

DATUM_THROUGH_EITHER(WrongNode);

TEST_P(WrongNode, given_the_number_of_another_device_when_opened_then_the_node_is_named) {
  constexpr unsigned memory_devices = 1;
  constexpr unsigned null_device = 3;
  make_node(makedev(memory_devices, null_device));
  const ChildOutcome refused = copy();
  EXPECT_TRUE(has(refused.errors, node_ + " is not the node that the kernel made for it"))
      << refused.describe();
}

TEST_P(WrongNode, given_a_number_that_no_device_has_when_opened_then_the_node_is_named) {
  constexpr unsigned beyond_the_last = 200;
  make_node(makedev(major(right_.st_rdev), beyond_the_last));
  const ChildOutcome refused = copy();
  EXPECT_TRUE(has(refused.errors, "the kernel has no " + node_)) << refused.describe();
}

}  // namespace
}  // namespace datum::test
