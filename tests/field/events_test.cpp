// What pools of events cost.
#include "tests/support/api_session.hpp"
#include "tests/support/process_resources.hpp"

namespace datum::test {
namespace {

class FieldSync : public ApiTest {};

TEST_F(FieldSync, SY_04_given_sixty_thousand_pools_one_after_the_other_then_no_memory_is_kept) {
  const auto one_round = [&] {
    const OwnedEventPool pool = create_event_pool(context(), 1);
    const OwnedEvent event = create_event(pool);
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(event));
  };
  for (int i = 0; i < 1000; ++i) {
    one_round();
  }
  const std::size_t before = resident_bytes();
  for (int i = 0; i < 60'000; ++i) {
    one_round();
  }
  if (!sanitized()) {  // a sanitizer keeps freed memory for a while
    EXPECT_LT(resident_bytes(), before + (4U << 20U));
  }
}

TEST_F(FieldSync,
       SY_04_given_a_thousand_live_pools_of_a_thousand_events_then_they_cost_what_their_words_take) {
  constexpr std::size_t pools = 1000;
  constexpr std::uint32_t events = 1000;
  const std::size_t before = resident_bytes();
  std::vector<OwnedEventPool> live;
  for (std::size_t i = 0; i < pools; ++i) {
    live.push_back(create_event_pool(context(), events));
    ASSERT_NE(nullptr, live.back().get()) << i;
    const OwnedEvent last = create_event(live.back(), events - 1);
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(last));
  }
  if (!sanitized()) {
    // 64 bytes for a word, and as much again for what the host keeps about it.
    EXPECT_LT(resident_bytes(), before + pools * events * 128);
  }
}

}  // namespace
}  // namespace datum::test
