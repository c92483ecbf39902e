// What tools are told of a PCIe link.
#include <gtest/gtest.h>
#include <level_zero/ze_api.h>
#include <level_zero/zes_api.h>

#include "driver/api/link_speed.hpp"

namespace datum::api {
namespace {

TEST(LinkSpeed, given_a_link_that_is_known_then_generation_lanes_and_bytes_a_second_are_told) {
  const auto slow = speed_of<zes_pci_speed_t>({1, 1});
  EXPECT_EQ(slow.gen, 1);
  EXPECT_EQ(slow.width, 1);
  EXPECT_EQ(slow.maxBandwidth, 250'000'000);
  const auto usual = speed_of<ze_pci_speed_ext_t>({4, 16});
  EXPECT_EQ(usual.genVersion, 4);
  EXPECT_EQ(usual.width, 16);
  EXPECT_EQ(usual.maxBandwidth / 1'000'000, 31'507);
  EXPECT_EQ((speed_of<zes_pci_speed_t>({6, 1}).maxBandwidth), 7'375'000'000);
}

TEST(LinkSpeed, given_what_is_not_known_then_it_is_minus_one) {
  const auto none = speed_of<zes_pci_speed_t>({});
  EXPECT_EQ(none.gen, -1);
  EXPECT_EQ(none.width, -1);
  EXPECT_EQ(none.maxBandwidth, -1);
  const auto lanes = speed_of<zes_pci_speed_t>({0, 8});
  EXPECT_EQ(lanes.width, 8);
  EXPECT_EQ(lanes.maxBandwidth, -1);
  const auto future = speed_of<zes_pci_speed_t>({9, 8});
  EXPECT_EQ(future.gen, 9);
  EXPECT_EQ(future.maxBandwidth, -1);
}

}  // namespace
}  // namespace datum::api
