#include <vector>

#include <gtest/gtest.h>

#include "driver/api/extension_chain.hpp"

namespace datum::api {
namespace {

/// A chain of `count` structures; the last leads to `back_to`, or nowhere.
std::vector<ze_base_desc_t> make_chain(unsigned count, int back_to = -1) {
  std::vector<ze_base_desc_t> chain(count);
  for (unsigned index = 0; index < count; ++index) {
    chain[index].stype = static_cast<ze_structure_type_t>(index + 1);
    chain[index].pNext = index + 1 < count ? &chain[index + 1] : nullptr;
  }
  if (back_to >= 0) {
    chain.back().pNext = &chain[static_cast<unsigned>(back_to)];
  }
  return chain;
}

std::vector<unsigned> visited(const void* first) {
  std::vector<unsigned> types;
  EXPECT_EQ(for_each_extension(first,
                               [&](ze_structure_type_t stype, const void*) {
                                 types.push_back(static_cast<unsigned>(stype));
                                 return ZE_RESULT_SUCCESS;
                               }),
            ZE_RESULT_SUCCESS);
  return types;
}

TEST(ExtensionChain, given_no_chain_then_nothing_is_visited) { EXPECT_TRUE(visited(nullptr).empty()); }

TEST(ExtensionChain, given_a_chain_then_each_structure_is_visited_once_in_order) {
  const auto chain = make_chain(5);
  EXPECT_EQ(visited(chain.data()), (std::vector<unsigned>{1, 2, 3, 4, 5}));
}

TEST(ExtensionChain, given_a_cycle_of_any_length_and_start_then_each_structure_is_visited_once) {
  for (unsigned count = 1; count <= 20; ++count) {
    for (unsigned back_to = 0; back_to < count; ++back_to) {
      const auto chain = make_chain(count, static_cast<int>(back_to));
      const std::vector<unsigned> types = visited(chain.data());
      ASSERT_EQ(types.size(), count) << "back to " << back_to;
      for (unsigned index = 0; index < count; ++index) {
        ASSERT_EQ(types[index], index + 1);
      }
    }
  }
}

TEST(ExtensionChain, given_a_visitor_that_refuses_then_the_walk_ends_with_its_answer) {
  const auto chain = make_chain(5);
  unsigned visits = 0;
  EXPECT_EQ(for_each_extension(chain.data(),
                               [&](ze_structure_type_t, const void*) {
                                 return ++visits == 2 ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_SUCCESS;
                               }),
            ZE_RESULT_ERROR_INVALID_ARGUMENT);
  EXPECT_EQ(visits, 2U);
}

}  // namespace
}  // namespace datum::api
