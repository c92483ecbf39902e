// One command of more than 4 GiB. The ranges are virtual: most of each shows one small piece of memory again
// and again, so that it takes no more memory than that.
#include <cstring>

#include "tests/api/virtual_memory_test.hpp"

namespace datum::test {
namespace {

constexpr std::size_t four_gigabytes = std::size_t{1} << 32U;
constexpr std::size_t piece = std::size_t{64} << 20U;
constexpr std::size_t pieces = four_gigabytes / piece + 1;  // the last one begins where 32 bits end
constexpr std::size_t whole = pieces * piece;
constexpr std::size_t odd_end = 1003;

class LargeCommands : public VirtualTest {
 protected:
  void SetUp() override {
    VirtualTest::SetUp();
    if (on_rtl()) {
      GTEST_SKIP() << "a board that is simulated clock by clock takes hours for 4 GiB";
    }
    if (sanitized()) {
      GTEST_SKIP() << "the instrumented model takes minutes for 4 GiB";
    }
  }

  /// Every piece but the last shows `body`, the last one `tail`.
  void show(const OwnedReservation& range, ze_physical_mem_handle_t body,
            ze_physical_mem_handle_t tail) const {
    for (std::size_t index = 0; index + 1 < pieces; ++index) {
      ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(index * piece), piece, body)) << last_error_text();
    }
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(four_gigabytes), piece, tail)) << last_error_text();
  }

  void hide(const OwnedReservation& range) const {
    for (std::size_t index = 0; index < pieces; ++index) {
      EXPECT_EQ(ZE_RESULT_SUCCESS, unmap(range.at(index * piece), piece));
    }
  }

  /// Ordinary allocations of the four places that count: begin and end of what body and tail show.
  void write_ends(const OwnedReservation& range, std::uint64_t seed) {
    upload(range.at(), pattern(odd_end, seed));
    upload(range.at(piece - odd_end), pattern(odd_end, seed + 1));
    upload(range.at(four_gigabytes), pattern(odd_end, seed + 2));
    upload(range.at(whole - odd_end), pattern(odd_end, seed + 3));
  }
};

TEST_F(LargeCommands,
       given_a_copy_of_more_than_4_gigabytes_when_done_then_both_sides_of_the_limit_are_right) {
  const OwnedPhysical source_body = physical(piece);
  const OwnedPhysical source_tail = physical(piece);
  const OwnedPhysical target_body = physical(piece);
  const OwnedPhysical target_tail = physical(piece);
  OwnedReservation source = reserve(whole);
  OwnedReservation target = reserve(whole);
  show(source, source_body, source_tail);
  show(target, target_body, target_tail);
  write_ends(source, 10);
  write_ends(target, 20);
  const std::size_t bytes = whole - odd_end;
  ASSERT_EQ(ZE_RESULT_SUCCESS, copy(target.at(), source.at(), bytes)) << last_error_text();
  EXPECT_TRUE(same_bytes(pattern(odd_end, 10), download(target.at(), odd_end)));
  EXPECT_TRUE(same_bytes(pattern(odd_end, 11), download(target.at(piece - odd_end), odd_end)));
  EXPECT_TRUE(same_bytes(pattern(odd_end, 12), download(target.at(four_gigabytes), odd_end)));
  EXPECT_TRUE(same_bytes(pattern(odd_end, 23), download(target.at(whole - odd_end), odd_end)))
      << "not one byte behind the end";
  hide(source);
  hide(target);
}

TEST_F(LargeCommands, given_a_fill_of_more_than_4_gigabytes_when_done_then_all_of_it_and_no_more_is_filled) {
  const OwnedPhysical body = physical(piece);
  const OwnedPhysical tail = physical(piece);
  OwnedReservation range = reserve(whole);
  show(range, body, tail);
  write_ends(range, 30);
  constexpr std::uint32_t value = 0x5ac3'0ff1;
  constexpr std::size_t bytes = whole - 2 * odd_end - 2;
  static_assert(bytes % sizeof value == 0 && bytes > four_gigabytes);
  ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
              EXPECT_EQ(ZE_RESULT_SUCCESS,
                        zeCommandListAppendMemoryFill(list, range.at(), &value, sizeof value, bytes, nullptr,
                                                      0, nullptr));
            }))
      << last_error_text();
  Bytes expected(16);
  for (std::size_t at = 0; at < expected.size(); at += sizeof value) {
    std::memcpy(expected.data() + at, &value, sizeof value);
  }
  for (const std::size_t offset : {std::size_t{0}, piece - 16, four_gigabytes, bytes - 16}) {
    EXPECT_TRUE(same_bytes(expected, download(range.at(offset), 16))) << "at " << offset;
  }
  EXPECT_TRUE(same_bytes(pattern(odd_end, 33), download(range.at(whole - odd_end), odd_end)));
  hide(range);
}

}  // namespace
}  // namespace datum::test
