#include <algorithm>
#include <cstdint>
#include <new>
#include <sys/mman.h>
#include <vector>

#include <gtest/gtest.h>

#include <datum/base/zeroed_array.hpp>

namespace datum {
namespace {

struct alignas(64) Line {
  std::uint64_t words[8];
};

TEST(ZeroedArrayTest, given_elements_when_read_then_they_are_zero_and_keep_what_is_written) {
  ZeroedArray<Line> lines(1000);
  ASSERT_EQ(lines.size(), 1000U);
  EXPECT_TRUE(std::all_of(lines.begin(), lines.end(), [](const Line& line) { return line.words[7] == 0; }));

  lines[999].words[7] = 5;

  EXPECT_EQ(lines.data()[999].words[7], 5U);
  EXPECT_EQ(reinterpret_cast<std::uintptr_t>(&lines[1]) % alignof(Line), 0U);
}

TEST(ZeroedArrayTest, given_a_large_array_when_one_element_is_written_then_one_page_is_in_memory) {
  constexpr std::size_t bytes = 1U << 20U;
  ZeroedArray<std::uint8_t> array(bytes);
  ASSERT_EQ(::madvise(array.data(), bytes, MADV_NOHUGEPAGE), 0) << "a huge page would bring all of them";

  array[5 * 4096 + 7] = 1;

  std::vector<unsigned char> resident(bytes / 4096);
  ASSERT_EQ(::mincore(array.data(), bytes, resident.data()), 0);
  EXPECT_EQ(
      std::count_if(resident.begin(), resident.end(), [](unsigned char page) { return (page & 1U) != 0; }),
      1);
  EXPECT_EQ(resident[5] & 1U, 1U);
}

TEST(ZeroedArrayTest, given_no_elements_then_it_is_empty) {
  ZeroedArray<std::uint32_t> array(0);

  EXPECT_EQ(array.size(), 0U);
  EXPECT_EQ(array.begin(), array.end());
}

TEST(ZeroedArrayTest, given_more_than_the_address_space_then_it_says_so) {
  EXPECT_THROW(ZeroedArray<std::uint8_t>(std::size_t{1} << 60U), std::bad_alloc);
}

}  // namespace
}  // namespace datum
