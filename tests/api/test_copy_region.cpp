// zeCommandListAppendMemoryCopyRegion: rectangles and boxes in memory with pitches.
#include <algorithm>
#include <cstring>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

/// An array in memory: how its rows and slices follow each other.
struct Layout {
  std::uint32_t pitch;
  std::uint32_t slice_pitch;
};

void copy_region_on_host(unsigned char* to, const ze_copy_region_t& to_region, Layout to_layout,
                         const unsigned char* from, const ze_copy_region_t& from_region, Layout from_layout) {
  const std::uint32_t planes = std::max(to_region.depth, 1U);
  for (std::size_t z = 0; z < planes; ++z) {
    for (std::size_t y = 0; y < to_region.height; ++y) {
      const std::size_t to_at = (to_region.originZ + z) * to_layout.slice_pitch +
                                (to_region.originY + y) * to_layout.pitch + to_region.originX;
      const std::size_t from_at = (from_region.originZ + z) * from_layout.slice_pitch +
                                  (from_region.originY + y) * from_layout.pitch + from_region.originX;
      std::memcpy(to + to_at, from + from_at, to_region.width);
    }
  }
}

class CopyRegion : public ApiTest {
 protected:
  [[nodiscard]] ze_result_t region_code(void* to, const ze_copy_region_t& to_region, Layout to_layout,
                                        const void* from, const ze_copy_region_t& from_region,
                                        Layout from_layout) {
    ze_result_t appended = ZE_RESULT_SUCCESS;
    const ze_result_t ran = run([&](ze_command_list_handle_t list) {
      appended = zeCommandListAppendMemoryCopyRegion(
          list, to, &to_region, to_layout.pitch, to_layout.slice_pitch, from, &from_region, from_layout.pitch,
          from_layout.slice_pitch, nullptr, 0, nullptr);
    });
    return appended != ZE_RESULT_SUCCESS ? appended : ran;
  }

  void check(MemoryKind to_kind, const ze_copy_region_t& to_region, Layout to_layout, MemoryKind from_kind,
             const ze_copy_region_t& from_region, Layout from_layout, std::size_t bytes) {
    const OwnedMemory to = memory(to_kind, bytes);
    const OwnedMemory from = memory(from_kind, bytes);
    Bytes expected = pattern(bytes, 61);
    const Bytes source = pattern(bytes, 62);
    upload(to.get(), expected);
    upload(from.get(), source);
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              region_code(to.get(), to_region, to_layout, from.get(), from_region, from_layout));
    copy_region_on_host(expected.data(), to_region, to_layout, source.data(), from_region, from_layout);
    EXPECT_TRUE(same_bytes(expected, download(to.get(), bytes)))
        << name_of(from_kind) << " to " << name_of(to_kind);
  }
};

TEST_F(CopyRegion, given_rectangles_with_different_pitches_when_copied_then_only_their_bytes_change) {
  for (const MemoryKind to : {MemoryKind::device, MemoryKind::host, MemoryKind::shared}) {
    for (const MemoryKind from : {MemoryKind::device, MemoryKind::host, MemoryKind::onchip}) {
      check(to, {3, 2, 0, 41, 7, 0}, {100, 0}, from, {17, 1, 0, 41, 7, 0}, {128, 0}, 4096);
    }
  }
}

TEST_F(CopyRegion, given_boxes_when_copied_then_every_plane_is_copied) {
  check(MemoryKind::device, {1, 2, 1, 33, 5, 4}, {64, 640}, MemoryKind::host, {5, 1, 2, 33, 5, 4}, {80, 720},
        8192);
  check(MemoryKind::host, {0, 0, 0, 64, 4, 3}, {64, 256}, MemoryKind::device, {0, 0, 0, 64, 4, 3}, {64, 256},
        4096);
}

TEST_F(CopyRegion, given_a_box_of_one_plane_when_copied_then_it_is_as_a_rectangle_at_its_depth) {
  check(MemoryKind::device, {0, 0, 2, 20, 3, 1}, {32, 512}, MemoryKind::host, {4, 0, 1, 20, 3, 1}, {32, 512},
        4096);
}

TEST_F(CopyRegion, given_single_bytes_rows_and_columns_when_copied_then_they_are_right) {
  check(MemoryKind::device, {7, 3, 0, 1, 1, 0}, {64, 0}, MemoryKind::host, {0, 0, 0, 1, 1, 0}, {64, 0}, 2048);
  check(MemoryKind::device, {0, 5, 0, 64, 1, 0}, {64, 0}, MemoryKind::host, {0, 0, 0, 64, 1, 0}, {64, 0},
        2048);
  check(MemoryKind::device, {13, 0, 0, 1, 20, 0}, {64, 0}, MemoryKind::host, {1, 0, 0, 1, 20, 0}, {33, 0},
        2048);
}

TEST_F(CopyRegion, given_random_boxes_when_copied_then_all_agree_with_the_host) {
  Random random(test_seed() + 61);
  for (int i = 0; i < by_board(60, 4); ++i) {
    const auto width = static_cast<std::uint32_t>(random.between(1, 90));
    const auto height = static_cast<std::uint32_t>(random.between(1, 6));
    const auto depth = static_cast<std::uint32_t>(random.below(4));
    const auto place = [&](Layout& layout) {
      const auto x = static_cast<std::uint32_t>(random.below(20));
      const auto y = static_cast<std::uint32_t>(random.below(3));
      const auto z = depth == 0 ? 0U : static_cast<std::uint32_t>(random.below(3));
      layout.pitch = x + width + static_cast<std::uint32_t>(random.below(20));
      layout.slice_pitch = layout.pitch * (y + height + static_cast<std::uint32_t>(random.below(2)));
      return ze_copy_region_t{x, y, z, width, height, depth};
    };
    Layout to_layout{};
    Layout from_layout{};
    const ze_copy_region_t to = place(to_layout);
    const ze_copy_region_t from = place(from_layout);
    check(MemoryKind::device, to, to_layout, MemoryKind::host, from, from_layout, 16384);
    if (HasFatalFailure() || HasNonfatalFailure()) {
      FAIL() << "seed " << test_seed() << ", round " << i;
    }
  }
}

TEST_F(CopyRegion, given_ordinary_memory_when_regions_are_copied_both_ways_then_they_are_right) {
  Bytes ordinary = pattern(4096, 7);
  const OwnedMemory block = memory(MemoryKind::device, 4096);
  upload(block.get(), pattern(4096, 8));
  const ze_copy_region_t region{2, 1, 0, 30, 9, 0};
  ASSERT_EQ(ZE_RESULT_SUCCESS, region_code(block.get(), region, {64, 0}, ordinary.data(), region, {64, 0}));
  Bytes expected = pattern(4096, 8);
  copy_region_on_host(expected.data(), region, {64, 0}, ordinary.data(), region, {64, 0});
  EXPECT_TRUE(same_bytes(expected, download(block.get(), 4096)));
  ASSERT_EQ(ZE_RESULT_SUCCESS, region_code(ordinary.data(), region, {100, 0}, block.get(), region, {64, 0}));
  Bytes back = pattern(4096, 7);
  copy_region_on_host(back.data(), region, {100, 0}, expected.data(), region, {64, 0});
  EXPECT_TRUE(same_bytes(back, ordinary));
}

TEST_F(CopyRegion, given_regions_that_overlap_when_appended_then_they_are_refused) {
  const OwnedMemory block = memory(MemoryKind::device, 16384);
  const ze_copy_region_t here{0, 0, 0, 64, 8, 0};
  const ze_copy_region_t shifted{32, 4, 0, 64, 8, 0};
  EXPECT_EQ(ZE_RESULT_ERROR_OVERLAPPING_REGIONS,
            region_code(block.get(), shifted, {128, 0}, block.get(), here, {128, 0}));
  EXPECT_EQ(ZE_RESULT_ERROR_OVERLAPPING_REGIONS,
            region_code(block.get(), here, {128, 0}, block.get(), here, {128, 0}));
}

TEST_F(CopyRegion, given_regions_that_interleave_without_overlap_when_copied_then_it_is_legal) {
  // Left and right half of the same rows: their address ranges interleave, their bytes do not meet.
  const OwnedMemory block = memory(MemoryKind::device, 4096);
  Bytes expected = pattern(4096, 3);
  upload(block.get(), expected);
  const ze_copy_region_t left{0, 0, 0, 64, 8, 0};
  const ze_copy_region_t right{64, 0, 0, 64, 8, 0};
  ASSERT_EQ(ZE_RESULT_SUCCESS, region_code(block.get(), right, {128, 0}, block.get(), left, {128, 0}));
  const Bytes before = expected;
  copy_region_on_host(expected.data(), right, {128, 0}, before.data(), left, {128, 0});
  EXPECT_TRUE(same_bytes(expected, download(block.get(), 4096)));
}

TEST_F(CopyRegion,
       given_regions_of_different_extent_or_outside_their_block_when_appended_then_they_are_invalid) {
  const OwnedMemory to = memory(MemoryKind::device, 4096);
  const OwnedMemory from = memory(MemoryKind::host, 4096);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            region_code(to.get(), {0, 0, 0, 64, 4, 0}, {64, 0}, from.get(), {0, 0, 0, 63, 4, 0}, {64, 0}));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            region_code(to.get(), {0, 0, 0, 64, 4, 0}, {64, 0}, from.get(), {0, 0, 0, 64, 5, 0}, {64, 0}));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, region_code(to.get(), {0, 0, 0, 64, 4, 2}, {64, 512},
                                                          from.get(), {0, 0, 0, 64, 4, 3}, {64, 512}));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            region_code(to.get(), {0, 100, 0, 64, 4, 0}, {64, 0}, from.get(), {0, 0, 0, 64, 4, 0}, {64, 0}));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, region_code(to.get(), {0, 0, 0, 64, 4, 0}, {64, 0}, from.get(),
                                                          {0xffffffffU, 0xffffffffU, 0, 64, 4, 0}, {64, 0}));
}

TEST_F(CopyRegion, given_empty_regions_when_copied_then_nothing_changes) {
  const OwnedMemory to = memory(MemoryKind::device, 4096);
  const OwnedMemory from = memory(MemoryKind::host, 4096);
  upload(to.get(), pattern(4096, 1));
  EXPECT_EQ(ZE_RESULT_SUCCESS,
            region_code(to.get(), {0, 0, 0, 0, 4, 0}, {64, 0}, from.get(), {0, 0, 0, 0, 4, 0}, {64, 0}));
  EXPECT_EQ(ZE_RESULT_SUCCESS,
            region_code(to.get(), {0, 0, 0, 64, 0, 0}, {64, 0}, from.get(), {0, 0, 0, 64, 0, 0}, {64, 0}));
  EXPECT_TRUE(same_bytes(pattern(4096, 1), download(to.get(), 4096)));
}

TEST_F(CopyRegion, given_null_arguments_when_appended_then_they_are_named) {
  const OwnedMemory block = memory(MemoryKind::device, 8192);
  const ze_copy_region_t region{0, 0, 0, 8, 1, 0};
  const OwnedList list = create_list(context(), device());
  void* one = block.get();
  void* two = block.bytes() + 4096;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandListAppendMemoryCopyRegion(list, nullptr, &region, 64, 0, two, &region, 64, 0, nullptr,
                                                0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandListAppendMemoryCopyRegion(list, one, nullptr, 64, 0, two, &region, 64, 0, nullptr, 0,
                                                nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandListAppendMemoryCopyRegion(list, one, &region, 64, 0, nullptr, &region, 64, 0, nullptr,
                                                0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandListAppendMemoryCopyRegion(list, one, &region, 64, 0, two, nullptr, 64, 0, nullptr, 0,
                                                nullptr));
}

}  // namespace
}  // namespace datum::test
