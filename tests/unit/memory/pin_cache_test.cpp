#include <optional>
#include <sys/mman.h>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include <datum/base/mapping.hpp>

#include "driver/memory/address_space.hpp"
#include "driver/memory/device_heap.hpp"
#include "driver/memory/dma_map.hpp"
#include "driver/memory/pin_cache.hpp"
#include "tests/fakes/held_function.hpp"
#include "tests/unit/memory/model_board.hpp"
#include "tests/unit/memory/sizes.hpp"
#include "tests/unit/memory/table_walk.hpp"

namespace datum {
namespace {

using board::DmaAccess;

class PinCacheTest : public ::testing::Test {
 protected:
  explicit PinCacheTest(const std::string& options = "memory=64M")
      : board_(test::open_model(options)),
        heap_({0, board_->capabilities().memory_bytes, board_->capabilities().aperture_fixed_bytes, true, 0}),
        dma_(board_->function()),
        space_(std::move(*AddressSpace::create(*board_, heap_, {}))),
        pins_(*space_, dma_) {}

  static Mapping make_memory(std::uint64_t pages, int protection = PROT_READ | PROT_WRITE) {
    void* base = ::mmap(nullptr, pages * page, protection, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    EXPECT_NE(base, MAP_FAILED);
    return Mapping(base, pages * page);
  }

  [[nodiscard]] bool reachable(const std::byte* address) {
    EXPECT_TRUE(space_->commit().ok());
    return test::translate(*board_, space_->number(), reinterpret_cast<std::uintptr_t>(address)).has_value();
  }

  std::unique_ptr<Board> board_;
  DeviceHeap heap_;
  DmaMap dma_;
  std::unique_ptr<AddressSpace> space_;
  PinCache pins_;
};

class PinCacheWithin1MiB : public PinCacheTest {
 protected:
  PinCacheWithin1MiB() : PinCacheTest("memory=64M,locked=1M") {}
};

TEST_F(PinCacheTest, given_a_few_bytes_across_pages_then_whole_pages_are_pinned_until_the_unpin) {
  const Mapping memory = make_memory(4);
  const std::uint64_t token = *pins_.pin(memory.data() + page - 1, 2, DmaAccess::write);
  EXPECT_EQ(pins_.pinned_bytes(), 2 * page);
  EXPECT_TRUE(reachable(memory.data()));
  EXPECT_TRUE(reachable(memory.data() + page));
  EXPECT_FALSE(reachable(memory.data() + 2 * page));
  pins_.unpin(token);
  EXPECT_EQ(pins_.pinned_bytes(), 0U);
  EXPECT_FALSE(reachable(memory.data()));
}

TEST_F(PinCacheTest,
       given_overlapping_pins_in_any_order_then_pages_stay_reachable_until_their_last_pin_ends) {
  const Mapping memory = make_memory(8);
  const std::uint64_t middle = *pins_.pin(memory.data() + 3 * page, 2 * page, DmaAccess::read);
  const std::uint64_t all = *pins_.pin(memory.data(), 8 * page, DmaAccess::read);
  const std::uint64_t left = *pins_.pin(memory.data(), 4 * page, DmaAccess::read);
  EXPECT_EQ(pins_.pinned_bytes(), 8 * page);
  pins_.unpin(all);
  EXPECT_TRUE(reachable(memory.data()));
  EXPECT_TRUE(reachable(memory.data() + 4 * page));
  EXPECT_FALSE(reachable(memory.data() + 6 * page));
  pins_.unpin(middle);
  EXPECT_TRUE(reachable(memory.data() + 3 * page));
  pins_.unpin(left);
  EXPECT_EQ(pins_.pinned_bytes(), 0U);
  EXPECT_FALSE(reachable(memory.data()));
}

TEST_F(PinCacheTest,
       given_a_page_that_is_pinned_for_reading_when_it_is_pinned_for_writing_too_then_both_live) {
  const Mapping memory = make_memory(2);
  const std::uint64_t source = *pins_.pin(memory.data(), page, DmaAccess::read);
  ASSERT_TRUE(reachable(memory.data()));
  const Result<std::uint64_t> target = pins_.pin(memory.data(), 2 * page, DmaAccess::write);
  ASSERT_TRUE(target.ok());
  pins_.unpin(source);
  EXPECT_TRUE(reachable(memory.data()));
  EXPECT_TRUE(reachable(memory.data() + page));
}

TEST_F(PinCacheTest, given_a_bias_when_the_pages_are_pinned_for_writing_too_then_their_leaf_keeps_it) {
  const Mapping memory = make_memory(1);
  ASSERT_TRUE(pins_.pin(memory.data(), page, DmaAccess::read, 4).ok());
  ASSERT_TRUE(pins_.pin(memory.data(), page, DmaAccess::write).ok());
  ASSERT_TRUE(reachable(memory.data()));
  const auto leaf =
      test::find_leaf(*board_, space_->number(), reinterpret_cast<std::uintptr_t>(memory.data()));
  EXPECT_TRUE(leaf->entry.writable());
  EXPECT_EQ(leaf->entry.cache_policy(), 4U);
}

TEST_F(PinCacheTest, given_nothing_is_mapped_there_then_pinning_is_refused_and_leaves_nothing_behind) {
  Mapping memory = make_memory(4);
  ASSERT_EQ(::munmap(memory.data() + 2 * page, page), 0);
  const auto refused = pins_.pin(memory.data(), 4 * page, DmaAccess::read);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(pins_.pinned_bytes(), 0U);
}

TEST_F(PinCacheTest, given_read_only_memory_then_it_can_be_a_source_and_not_a_target) {
  const Mapping memory = make_memory(1, PROT_READ);
  EXPECT_TRUE(pins_.pin(memory.data(), page, DmaAccess::read).ok());
  const auto refused = pins_.pin(memory.data(), page, DmaAccess::write);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(pins_.pinned_bytes(), page);
}

TEST_F(PinCacheTest, given_memory_without_access_then_it_is_refused) {
  const Mapping memory = make_memory(1, PROT_NONE);
  EXPECT_EQ(pins_.pin(memory.data(), 1, DmaAccess::read).error().code, ErrorCode::invalid_argument);
}

TEST_F(PinCacheTest, given_ranges_that_no_process_has_then_they_are_refused) {
  EXPECT_EQ(pins_.pin(reinterpret_cast<void*>(~0ULL - 10), 100, DmaAccess::read).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(pins_.pin(reinterpret_cast<void*>(16), 100, DmaAccess::read).error().code,
            ErrorCode::invalid_argument);
  EXPECT_EQ(pins_.pin(reinterpret_cast<void*>(1ULL << 50U), 100, DmaAccess::read).error().code,
            ErrorCode::invalid_argument);
}

TEST_F(PinCacheWithin1MiB,
       given_more_than_may_be_locked_of_memory_without_access_then_the_access_is_what_is_told) {
  const Mapping memory = make_memory(512, PROT_NONE);
  const auto pinned = pins_.pin(memory.data(), 512 * page, DmaAccess::read);
  ASSERT_FALSE(pinned.ok());
  EXPECT_EQ(pinned.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(pins_.pinned_bytes(), 0U);
}

TEST_F(PinCacheWithin1MiB, given_more_than_may_be_locked_then_it_is_refused_and_what_was_pinned_stays) {
  const Mapping memory = make_memory(1024);
  const std::uint64_t token = *pins_.pin(memory.data() + 600 * page, 10 * page, DmaAccess::read);
  const auto refused = pins_.pin(memory.data(), 1024 * page, DmaAccess::read);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_host_memory);
  EXPECT_EQ(pins_.pinned_bytes(), 10 * page);
  EXPECT_TRUE(reachable(memory.data() + 600 * page));
  pins_.unpin(token);
}

TEST_F(PinCacheTest, given_pages_pinned_read_only_then_no_other_pin_makes_them_writable) {
  const Mapping memory = make_memory(4);
  const std::uint64_t token = *pins_.pin_read_only(memory.data() + page, 2 * page);
  EXPECT_EQ(pins_.pin(memory.data() + page, 1, DmaAccess::write).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(pins_.pin(memory.data(), 2 * page, DmaAccess::write).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(pins_.pinned_bytes(), 2 * page) << "nothing stays of the refused ones";
  const std::uint64_t reading = *pins_.pin(memory.data(), 4 * page, DmaAccess::read);
  pins_.unpin(token);
  EXPECT_TRUE(pins_.pin(memory.data() + page, 1, DmaAccess::write).ok()) << "it holds no longer";
  pins_.unpin(reading);
}

TEST_F(PinCacheTest, given_pages_that_commands_write_when_pinned_read_only_then_that_has_to_wait) {
  const Mapping memory = make_memory(2);
  const std::uint64_t writing = *pins_.pin(memory.data(), page, DmaAccess::write);
  EXPECT_EQ(pins_.pin_read_only(memory.data(), 2 * page).error().code, ErrorCode::not_available);
  EXPECT_EQ(pins_.pinned_bytes(), page);
  pins_.unpin(writing);
  pins_.unpin(*pins_.pin_read_only(memory.data(), 2 * page));
  EXPECT_EQ(pins_.pinned_bytes(), 0U);
}

TEST_F(PinCacheTest, given_a_pin_that_the_kernel_is_slow_at_when_others_come_then_only_its_own_pages_wait) {
  test::HeldFunction slow(board_->function());
  DmaMap slow_dma(slow);
  PinCache pins(*space_, slow_dma);
  const Mapping memory = make_memory(8);
  const std::uint64_t before = *pins.pin(memory.data() + 6 * page, page, DmaAccess::read);
  slow.hold();
  std::uint64_t first = 0;
  std::uint64_t second = 0;
  std::thread stuck([&] { first = *pins.pin(memory.data(), 2 * page, DmaAccess::read); });
  slow.wait_until_one_is_held();
  std::thread waits([&] { second = *pins.pin(memory.data() + page, page, DmaAccess::read); });
  pins.unpin(*pins.pin(memory.data() + 6 * page, page, DmaAccess::read));
  EXPECT_TRUE(reachable(memory.data() + 6 * page));
  pins.unpin(before);
  EXPECT_FALSE(reachable(memory.data() + 6 * page));
  slow.let_go();
  stuck.join();
  waits.join();
  EXPECT_EQ(pins.pinned_bytes(), 2 * page) << "the second found them pinned";
  pins.unpin(first);
  EXPECT_TRUE(reachable(memory.data() + page));
  pins.unpin(second);
  EXPECT_EQ(pins.pinned_bytes(), 0U);
}

TEST_F(PinCacheTest,
       given_pages_that_are_slow_to_become_writable_when_pinned_read_only_then_that_is_refused) {
  test::HeldFunction slow(board_->function());
  DmaMap slow_dma(slow);
  PinCache pins(*space_, slow_dma);
  const Mapping memory = make_memory(2);
  const std::uint64_t reading = *pins.pin(memory.data(), page, DmaAccess::read);
  slow.hold();
  std::uint64_t writing = 0;
  std::thread stuck([&] { writing = *pins.pin(memory.data(), page, DmaAccess::write); });
  slow.wait_until_one_is_held();
  ErrorCode refusal = ErrorCode::unknown;
  std::thread waits([&] { refusal = pins.pin_read_only(memory.data(), page).error().code; });
  slow.let_go();
  stuck.join();
  waits.join();
  EXPECT_EQ(refusal, ErrorCode::not_available);
  pins.unpin(reading);
  pins.unpin(writing);
  EXPECT_EQ(pins.pinned_bytes(), 0U);
}

}  // namespace
}  // namespace datum
