// What the kernel grants a user: locked memory and numbers of mappings.
#include "tests/vm/guest/guest_test.hpp"

namespace datum::test {
namespace {

constexpr std::uint64_t limit_mib = 1U << 20U;

class LockedMemory : public ThroughEither {
 protected:
  void SetUp() override {
    GuestTest::SetUp();
    for (const std::string& card : cards()) {
      set_nodes(card, ordinary_group, 0660);
    }
  }
};

DATUM_THROUGH_EITHER(LockedMemory);

TEST_P(LockedMemory,
       given_8_mib_when_more_is_asked_for_then_it_is_refused_with_the_limit_and_the_rest_works) {
  const ChildOutcome outcome = run(scenario("locked_memory_used_up"), ordinary_user(8 * limit_mib, forced()));
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
}

// The container counts for each process, iommufd for each user.
TEST_P(LockedMemory, given_a_second_process_of_the_user_when_it_asks_then_iommufd_counts_the_first_too) {
  ASSERT_GE(cards().size(), 2U);
  Program first(scenario("hold_host_memory"), ordinary_user(8 * limit_mib, forced()));
  ASSERT_EQ(first.read_line(), "ready") << first.end().describe();
  Rights rights = ordinary_user(8 * limit_mib);
  rights.environment = {{"DATUM_BOARDS", "vfio:" + cards()[1] + forced()}};
  const ChildOutcome second = run(scenario("six_mib_of_host_memory"), rights);
  const bool given = second.output == "given\n";
  EXPECT_EQ(given, std::string(GetParam()) == "container") << second.describe();
  EXPECT_TRUE(given || has(second.output, "RLIMIT_MEMLOCK")) << second.describe();
  EXPECT_TRUE(first.end().succeeded());
}

class MappingLimit : public GuestTest {
 protected:
  static constexpr const char* limit = "/sys/module/vfio_iommu_type1/parameters/dma_entry_limit";

  void TearDown() override { EXPECT_TRUE(write_file(limit, "65535")); }
};

TEST_F(MappingLimit,
       given_32_mappings_when_1000_blocks_share_some_then_large_ones_are_refused_with_the_limit) {
  ASSERT_TRUE(write_file(limit, "32"));
  const ChildOutcome outcome = run(scenario("mappings_used_up"), {false, {}, on_card(",container")});
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
}

}  // namespace
}  // namespace datum::test
