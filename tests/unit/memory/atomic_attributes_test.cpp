#include <gtest/gtest.h>

#include "driver/memory/atomic_attributes.hpp"

namespace datum {
namespace {

TEST(AtomicAttributesTest, given_nothing_set_then_everything_is_the_default) {
  const AtomicAttributes attributes;
  EXPECT_TRUE(attributes.empty());
  EXPECT_EQ(attributes.get(1, 0, {0, 100}), 0U);
}

TEST(AtomicAttributesTest, given_ranges_set_over_each_other_then_each_page_has_the_last_word) {
  AtomicAttributes attributes;
  attributes.set(1, 0, {0, 10}, 1);
  attributes.set(1, 0, {4, 6}, 2);
  EXPECT_EQ(attributes.get(1, 0, {0, 4}), 1U);
  EXPECT_EQ(attributes.get(1, 0, {4, 6}), 2U);
  EXPECT_EQ(attributes.get(1, 0, {6, 10}), 1U);
  EXPECT_EQ(attributes.get(1, 0, {10, 11}), 0U);
  EXPECT_EQ(attributes.get(1, 0, {3, 5}), std::nullopt);
  EXPECT_EQ(attributes.get(1, 0, {9, 11}), std::nullopt);
  attributes.set(1, 0, {5, 20}, 3);
  EXPECT_EQ(attributes.get(1, 0, {4, 5}), 2U);
  EXPECT_EQ(attributes.get(1, 0, {5, 20}), 3U);
  attributes.set(1, 0, {0, 30}, 4);
  EXPECT_EQ(attributes.get(1, 0, {0, 30}), 4U);
  EXPECT_EQ(attributes.get(1, 0, {30, 31}), 0U);
}

TEST(AtomicAttributesTest, given_several_allocations_and_devices_then_one_does_not_show_in_another) {
  AtomicAttributes attributes;
  attributes.set(1, 0, {0, 2}, 1);
  attributes.set(1, 1, {0, 2}, 2);
  attributes.set(2, 0, {0, 2}, 3);
  EXPECT_EQ(attributes.get(1, 0, {0, 2}), 1U);
  EXPECT_EQ(attributes.get(1, 1, {0, 2}), 2U);
  attributes.forget(1);
  EXPECT_EQ(attributes.get(1, 0, {0, 2}), 0U);
  EXPECT_EQ(attributes.get(1, 1, {0, 2}), 0U);
  EXPECT_EQ(attributes.get(2, 0, {0, 2}), 3U);
  attributes.forget(2);
  EXPECT_TRUE(attributes.empty());
}

}  // namespace
}  // namespace datum
