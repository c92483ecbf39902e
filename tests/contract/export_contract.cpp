// The board's memory as a descriptor.

#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include "tests/contract/contract_board.hpp"
#include "tests/support/pattern.hpp"
#include "tests/support/process_resources.hpp"

namespace datum::test {

/// Exporting device memory, piece by piece.
class ExportContract : public Contract {
 protected:
  struct View {
    UniqueFd file;
    Mapping mapping;

    [[nodiscard]] std::uint64_t& word(std::uint64_t offset) const {
      return *reinterpret_cast<std::uint64_t*>(mapping.data() + offset);
    }
  };

  /// Four pages that are not neighbours and not in order, and the space in which they are.
  void SetUp() override {
    const auto base = driver().device_memory(0x10000);
    for (const std::uint64_t offset : {0x8000U, 0x0U, 0x3000U, 0xf000U}) {
      ranges_.push_back({DeviceAddress{base + offset, 0}, 0x1000});
    }
    for (std::size_t index = 0; index < ranges_.size(); ++index) {
      driver().map_device(space, device_va + index * 0x1000, ranges_[index].first.offset_bytes, 0x1000);
    }
  }

  [[nodiscard]] View export_all() {
    auto exported = function().export_memory(ranges_, "datum:contract");
    if (!exported) {
      ADD_FAILURE() << exported.error().message;
      return {};
    }
    void* base = ::mmap(nullptr, 0x4000, PROT_READ | PROT_WRITE, MAP_SHARED, exported->get(), 0);
    EXPECT_NE(base, MAP_FAILED);
    return {std::move(exported).value(), Mapping{base, 0x4000}};
  }

  std::vector<board::DeviceRange> ranges_;
};

DATUM_ON_EVERY_BOARD(ExportContract);

TEST_P(ExportContract, exported_memory_is_the_boards_memory_seen_from_its_first_byte) {
  ASSERT_TRUE(function().limits().can_export.memfd);
  ASSERT_EQ(function().limits().exportable_memories & 1U, 1U);
  const auto before = pattern(0x4000, 3);
  for (std::size_t index = 0; index < ranges_.size(); ++index) {
    driver().write_device(ranges_[index].first.offset_bytes,
                          std::as_bytes(std::span{before}).subspan(index * 0x1000, 0x1000));
  }
  const View view = export_all();
  ASSERT_TRUE(view.file.valid());
  EXPECT_TRUE(same_bytes(before.data(), view.mapping.data(), before.size()));
  // The board's writes show in the view, by aperture and by DMA across pages; the view's show on the board.
  driver().aperture().write64(ranges_[2].first.offset_bytes + 8, 0x1111);
  EXPECT_EQ(view.word(0x2008), 0x1111U);
  TestRing ring(driver(), 0, 4, {space});
  ASSERT_TRUE(ring.wait_for(ring.submit(fill_descriptor(space, device_va + 0xf80, 0x2100, 0, 0x77))));
  EXPECT_TRUE(same_bytes(&before[0xf7f], view.mapping.data() + 0xf7f, 1));
  for (std::uint64_t offset = 0xf80; offset < 0x3080; ++offset) {
    ASSERT_EQ(view.mapping.data()[offset], std::byte{0x77}) << offset;
  }
  EXPECT_TRUE(same_bytes(&before[0x3080], view.mapping.data() + 0x3080, 1));
  view.word(0x1010) = 0x2222;
  EXPECT_EQ(driver().aperture().read64(ranges_[1].first.offset_bytes + 16), 0x2222U);
}

TEST_P(ExportContract, copies_cross_from_exported_pages_to_others_and_to_the_host) {
  const View view = export_all();
  ASSERT_TRUE(view.file.valid());
  for (std::uint64_t offset = 0; offset < 0x4000; offset += 8) {
    view.word(offset) = offset * 0x9e3779b97f4a7c15ULL;
  }
  auto memory = driver().host(0x4000);
  driver().map_host(space, host_va, *memory);
  const auto plain = driver().device_memory(0x4000);
  driver().map_device(space, device_va + 0x100000, plain, 0x4000);
  TestRing ring(driver(), 0, 4, {space});
  ASSERT_TRUE(
      ring.wait_for(ring.submit(copy_descriptor(space, device_va, space, device_va + 0x100000, 0x4000))));
  ASSERT_TRUE(
      ring.wait_for(ring.submit(copy_descriptor(space, device_va + 0x100000, space, host_va, 0x4000))));
  for (std::uint64_t offset = 0; offset < 0x4000; offset += 8) {
    ASSERT_EQ(memory->word(offset), view.word(offset)) << offset;
  }
  ASSERT_TRUE(ring.wait_for(ring.submit(fill_descriptor(space, host_va, 0x4000, 0, 0x3c))));
  ASSERT_TRUE(ring.wait_for(ring.submit(copy_descriptor(space, host_va, space, device_va, 0x4000))));
  for (std::uint64_t offset = 0; offset < 0x4000; ++offset) {
    ASSERT_EQ(view.mapping.data()[offset], std::byte{0x3c}) << offset;
  }
}

TEST_P(ExportContract, nobody_can_resize_an_export) {
  const View view = export_all();
  ASSERT_TRUE(view.file.valid());
  EXPECT_NE(::ftruncate(view.file.get(), 0), 0);
  EXPECT_NE(::ftruncate(view.file.get(), 1 << 20), 0);
}

TEST_P(ExportContract, after_its_end_board_and_holders_go_separate_ways) {
  ASSERT_TRUE(function().limits().exports_end);
  View old = export_all();
  ASSERT_TRUE(old.file.valid());
  old.word(0) = 0x1234;
  ASSERT_TRUE(function().end_export(ranges_));
  EXPECT_EQ(driver().aperture().read64(ranges_[0].first.offset_bytes), 0U);
  driver().aperture().write64(ranges_[0].first.offset_bytes, 0x5678);
  EXPECT_EQ(old.word(0), 0x1234U) << "a holder keeps its bytes and sees no later ones";
  const View fresh = export_all();
  ASSERT_TRUE(fresh.file.valid());
  EXPECT_EQ(fresh.word(0), 0x5678U);
  old.word(0) = 0x9999;
  EXPECT_EQ(driver().aperture().read64(ranges_[0].first.offset_bytes), 0x5678U);
}

TEST_P(ExportContract, exports_leave_no_descriptor_behind) {
  const std::size_t before = open_descriptors();
  for (int round = 0; round < 100; ++round) {
    ASSERT_TRUE(function().export_memory(ranges_, "datum:contract"));
    ASSERT_TRUE(function().end_export(ranges_));
  }
  EXPECT_EQ(open_descriptors(), before);
}

TEST_P(ExportContract, a_reset_leaves_an_export_to_its_holders) {
  const View view = export_all();
  ASSERT_TRUE(view.file.valid());
  view.word(8) = 42;
  ASSERT_TRUE(function().reset(board::ResetKind::function));
  EXPECT_EQ(view.word(8), 42U);
  EXPECT_TRUE(function().end_export(ranges_));
}

TEST_P(ExportContract, exports_outside_of_the_memory_of_parts_of_pages_or_twice_are_refused) {
  const auto memory_bytes = driver().registers().read64(hw::memory_bytes);
  const auto code = [&](std::vector<board::DeviceRange> ranges) {
    const auto exported = function().export_memory(ranges, "datum:contract");
    return exported ? ErrorCode::unknown : exported.error().code;
  };
  for (const auto& [first, bytes] :
       std::initializer_list<std::pair<std::uint64_t, std::uint64_t>>{{0, 0},
                                                                      {1, 0x1000},
                                                                      {0, 0x1001},
                                                                      {memory_bytes, 0x1000},
                                                                      {memory_bytes - 0x1000, 0x2000},
                                                                      {~0xfffULL, 0x2000}}) {
    EXPECT_EQ(code({{DeviceAddress{first, 0}, bytes}}), ErrorCode::invalid_argument) << first << " " << bytes;
  }
  EXPECT_EQ(code({}), ErrorCode::invalid_argument);
  const View view = export_all();
  EXPECT_EQ(code(ranges_), ErrorCode::invalid_argument);
  EXPECT_EQ(code({{ranges_[2]}}), ErrorCode::invalid_argument);
  EXPECT_EQ(function().end_export(std::span(ranges_).first(2)).error().code, ErrorCode::invalid_argument);
  for (std::uint32_t ordinal = 1; ordinal < 2; ++ordinal) {
    const bool can = (function().limits().exportable_memories >> ordinal & 1U) != 0;
    EXPECT_EQ(code({{DeviceAddress{0, ordinal}, 0x1000}}),
              can ? ErrorCode::unknown : ErrorCode::unsupported_feature);
  }
}

}  // namespace datum::test
