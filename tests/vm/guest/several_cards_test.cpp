// Two cards of which nobody named one: which of them a program sees.
#include <algorithm>

#include "tests/vm/guest/guest_test.hpp"

namespace datum::test {
namespace {

class SeveralCards : public GuestTest {
 protected:
  void SetUp() override {
    GuestTest::SetUp();
    ASSERT_GE(cards().size(), 2U);
  }

  /// Of a program that takes what cards there are.
  [[nodiscard]] static Rights unnamed(const std::string& mask = unset_variable) {
    return {false, {}, {{"DATUM_BOARDS", unset_variable}, {"ZE_AFFINITY_MASK", mask}}};
  }

  /// PCI addresses of the devices that it lists, in order.
  [[nodiscard]] static std::vector<std::string> listed(const ChildOutcome& outcome) {
    std::vector<std::pair<std::size_t, std::string>> found;
    for (const std::string& card : cards()) {
      if (const std::size_t at = outcome.output.find(card); at != std::string::npos) {
        found.emplace_back(at, card);
      }
    }
    std::ranges::sort(found);
    std::vector<std::string> names;
    std::ranges::transform(found, std::back_inserter(names), [](const auto& entry) { return entry.second; });
    return names;
  }
};

TEST_F(SeveralCards, given_one_in_use_when_nobody_named_cards_then_the_other_works_and_the_first_is_told) {
  Program holder(scenario("hold"), {false, {}, on_card()});
  ASSERT_EQ(holder.read_line(), "ready") << holder.end().describe();
  const ChildOutcome list = run(tool({"list"}), unnamed());
  EXPECT_TRUE(list.succeeded()) << list.describe();
  EXPECT_EQ(listed(list), std::vector<std::string>{cards()[1]}) << list.describe();
  EXPECT_TRUE(has(list.errors, "vfio:" + card_ + " cannot be used")) << list.describe();
  EXPECT_TRUE(has(list.errors, "is held by process " + std::to_string(holder.process()))) << list.describe();
  const ChildOutcome copy = run(scenario("copy"), unnamed());
  EXPECT_TRUE(copy.succeeded()) << copy.describe();
  EXPECT_EQ(copy.errors, "") << "a program that asked for no log is not disturbed";
  EXPECT_TRUE(holder.end().succeeded());
}

TEST_F(SeveralCards, given_one_without_a_driver_when_nobody_named_cards_then_the_other_works) {
  give_back(card_);
  const ChildOutcome list = run(tool({"list"}), unnamed());
  EXPECT_EQ(listed(list), std::vector<std::string>{cards()[1]}) << list.describe();
}

TEST_F(SeveralCards, given_a_mask_when_listed_then_exactly_those_are_seen_in_the_order_of_the_bus) {
  const std::vector<std::string> all = cards();
  EXPECT_EQ(listed(run(tool({"list"}), unnamed())), all);
  EXPECT_EQ(listed(run(tool({"list"}), unnamed("0"))), std::vector<std::string>{all[0]});
  EXPECT_EQ(listed(run(tool({"list"}), unnamed("1"))), std::vector<std::string>{all[1]});
  EXPECT_EQ(listed(run(tool({"list"}), unnamed("1,0"))), all);
}

TEST_F(SeveralCards, given_a_mask_that_names_none_when_listed_then_there_is_no_device_and_one_line) {
  for (const char* mask : {"2", "zebra"}) {
    const ChildOutcome list = run(tool({"list"}), unnamed(mask));
    EXPECT_EQ(list.exit_status, 2) << list.describe();
    EXPECT_TRUE(has(list.errors, std::string("datum: ZE_AFFINITY_MASK is '") + mask)) << list.describe();
  }
}

TEST_F(SeveralCards, given_a_hidden_card_when_another_program_wants_it_then_it_is_free) {
  Program user(scenario("hold"), unnamed("0"));
  ASSERT_EQ(user.read_line(), "ready") << user.end().describe();
  const ChildOutcome other = run(scenario("copy"), unnamed("1"));
  EXPECT_TRUE(other.succeeded()) << other.describe();
  EXPECT_TRUE(user.end().succeeded());
}

}  // namespace
}  // namespace datum::test
