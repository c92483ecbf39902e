#include <vector>

#include <gtest/gtest.h>

#include "driver/memory/iova_allocator.hpp"
#include "tests/unit/memory/sizes.hpp"

namespace datum {
namespace {

TEST(IovaAllocator, given_the_ranges_of_a_39_bit_iommu_then_addresses_lie_in_them_and_are_never_0) {
  const std::vector<board::IovaRange> ranges{{Iova{0}, Iova{0xfedfffff}},
                                             {Iova{0xfef00000}, Iova{(1ULL << 39U) - 1}}};
  IovaAllocator iovas(ranges, 4096);
  for (unsigned index = 0; index < 1000; ++index) {
    const std::uint64_t bytes = (index % 7 + 1) * mib;
    const std::uint64_t first = raw(*iovas.take(bytes));
    EXPECT_NE(first, 0U);
    EXPECT_LE(first + bytes, 1ULL << 39U);
    EXPECT_TRUE(first + bytes <= 0xfee00000 || first >= 0xfef00000);
  }
}

TEST(IovaAllocator, given_2_mib_or_more_then_the_address_is_a_multiple_of_2_mib) {
  const std::vector<board::IovaRange> ranges{{Iova{0x1000}, Iova{64 * mib - 1}}};
  IovaAllocator iovas(ranges, 4096);
  EXPECT_TRUE(is_aligned(raw(*iovas.take(2 * mib)), large_page_bytes));
  EXPECT_TRUE(is_aligned(raw(*iovas.take(3 * mib)), large_page_bytes));
}

TEST(IovaAllocator, given_full_ranges_when_taking_then_it_is_refused_until_something_is_released) {
  const std::vector<board::IovaRange> ranges{{Iova{0x10000}, Iova{0x1ffff}}};
  IovaAllocator iovas(ranges, 4096);
  const Iova all = *iovas.take(0x10000);
  EXPECT_EQ(iovas.take(1).error().code, ErrorCode::out_of_host_memory);
  iovas.release(all, 0x10000);
  EXPECT_EQ(raw(*iovas.take(1)), 0x10000U);
}

TEST(IovaAllocator, given_a_granule_above_4_kib_then_addresses_are_multiples_of_it) {
  const std::vector<board::IovaRange> ranges{{Iova{0}, Iova{mib - 1}}};
  IovaAllocator iovas(ranges, 65536);
  EXPECT_TRUE(is_aligned(raw(*iovas.take(1)), 65536));
  EXPECT_TRUE(is_aligned(raw(*iovas.take(1)), 65536));
}

}  // namespace
}  // namespace datum
