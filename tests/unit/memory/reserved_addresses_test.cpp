#include <memory>
#include <sys/mman.h>
#include <vector>

#include <gtest/gtest.h>

#include <datum/base/address.hpp>

#include "driver/memory/reserved_addresses.hpp"
#include "tests/unit/memory/sizes.hpp"

namespace datum {
namespace {

class ReservedAddressesTest : public ::testing::Test {
 protected:
  std::shared_ptr<ReservedAddresses> reserve(std::uintptr_t wanted, std::uint64_t bytes) {
    Result<std::shared_ptr<ReservedAddresses>> made = ReservedAddresses::reserve(*window_, wanted, bytes);
    EXPECT_TRUE(made.ok());
    return made.ok() ? *made : nullptr;
  }

  std::unique_ptr<AddressWindow> window_ = std::move(*AddressWindow::reserve(256 * mib));
};

TEST_F(ReservedAddressesTest, given_no_wish_then_modest_ranges_come_from_the_window_at_their_alignment) {
  for (const std::uint64_t bytes : {small_page_bytes, 3 * small_page_bytes, large_page_bytes, 5 * mib}) {
    const auto range = reserve(0, bytes);
    EXPECT_TRUE(window_->overlaps(range->base(), bytes));
    EXPECT_EQ(range->bytes(), bytes);
    EXPECT_TRUE(is_aligned(range->base(), bytes >= large_page_bytes ? large_page_bytes : small_page_bytes));
  }
}

TEST_F(ReservedAddressesTest,
       given_ranges_larger_than_the_window_then_they_are_had_beside_it_and_given_back) {
  std::uintptr_t base = 0;
  {
    const auto range = reserve(0, 4ULL << 30U);
    base = range->base();
    EXPECT_FALSE(window_->overlaps(base, 4ULL << 30U));
    EXPECT_TRUE(is_aligned(base, large_page_bytes));
  }
  const auto again = reserve(base, 4ULL << 30U);
  EXPECT_EQ(again->base(), base) << "the addresses are free again";
}

TEST_F(ReservedAddressesTest, given_a_range_when_the_one_behind_it_is_wanted_then_it_is_had) {
  const auto first = reserve(0, 3 * small_page_bytes);
  const auto second = reserve(first->base() + first->bytes(), 2 * small_page_bytes);
  EXPECT_EQ(second->base(), first->base() + first->bytes());
}

TEST_F(ReservedAddressesTest, given_wanted_addresses_that_somebody_has_then_others_are_given) {
  const auto first = reserve(0, 4 * small_page_bytes);
  const auto second = reserve(first->base() + small_page_bytes, small_page_bytes);
  EXPECT_NE(second->base(), first->base() + small_page_bytes);
  void* mine = ::mmap(nullptr, 4096, PROT_READ, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(mine, MAP_FAILED);
  const auto third = reserve(reinterpret_cast<std::uintptr_t>(mine), small_page_bytes);
  EXPECT_NE(third->base(), reinterpret_cast<std::uintptr_t>(mine));
  ::munmap(mine, 4096);
}

TEST_F(ReservedAddressesTest, given_wanted_addresses_that_no_process_can_have_then_others_are_given) {
  for (const std::uintptr_t wanted : {std::uintptr_t{1} << 47U, ~std::uintptr_t{0xfff}}) {
    const auto range = reserve(wanted, small_page_bytes);
    EXPECT_NE(range->base(), wanted);
  }
}

TEST_F(ReservedAddressesTest,
       given_more_than_any_process_has_then_it_is_refused_and_the_window_is_as_it_was) {
  for (int round = 0; round < 100; ++round) {
    Result<std::shared_ptr<ReservedAddresses>> made =
        ReservedAddresses::reserve(*window_, 0, ReservedAddresses::most_bytes);
    ASSERT_FALSE(made.ok());
    EXPECT_EQ(made.error().code, ErrorCode::out_of_host_memory);
    EXPECT_NE(made.error().message.find(std::to_string(ReservedAddresses::most_bytes)), std::string::npos);
  }
  EXPECT_NE(reserve(0, 200 * mib), nullptr);
}

TEST_F(ReservedAddressesTest,
       given_a_range_in_which_something_was_mapped_when_it_goes_then_nothing_is_left_there) {
  std::uintptr_t base = 0;
  {
    const auto range = reserve(0, 2 * small_page_bytes);
    base = range->base();
    ASSERT_NE(::mmap(reinterpret_cast<void*>(base), 4096, PROT_READ | PROT_WRITE,
                     MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0),
              MAP_FAILED);
    *reinterpret_cast<int*>(base) = 1;
  }
  EXPECT_EQ(::madvise(reinterpret_cast<void*>(base), 4096, 22 /* MADV_POPULATE_READ */), -1);
}

}  // namespace
}  // namespace datum
