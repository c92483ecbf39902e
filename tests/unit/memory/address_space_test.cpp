// Page tables as the board itself sees them: the golden model walks them.
#include <array>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "driver/device/mmu.hpp"
#include "driver/memory/address_space.hpp"
#include "driver/memory/device_heap.hpp"
#include "tests/unit/memory/model_board.hpp"
#include "tests/unit/memory/table_walk.hpp"

namespace datum {
namespace {

constexpr DeviceVa va{0x5500'0000'0000};

class AddressSpaceTest : public ::testing::Test {
 protected:
  AddressSpaceTest()
      : board_(test::open_model("memory=64M")),
        heap_(
            {0, board_->capabilities().memory_bytes, board_->capabilities().aperture_fixed_bytes, true, 0}) {}

  std::unique_ptr<AddressSpace> make_space() {
    Result<std::unique_ptr<AddressSpace>> space =
        AddressSpace::create(*board_, heap_, [this](std::span<const PageRun> runs) {
          cleared_.insert(cleared_.end(), runs.begin(), runs.end());
          return clear_answer_;
        });
    EXPECT_TRUE(space.ok());
    return std::move(*space);
  }

  [[nodiscard]] std::optional<std::uint64_t> translate(const AddressSpace& space, DeviceVa address) {
    return test::translate(*board_, space.number(), raw(address));
  }

  std::unique_ptr<Board> board_;
  DeviceHeap heap_;
  std::vector<PageRun> cleared_;
  Status clear_answer_;
};

PageTarget device_page(std::uint64_t offset_bytes) {
  PageTarget target;
  target.device.offset_bytes = offset_bytes;
  return target;
}

TEST_F(AddressSpaceTest, given_a_mapping_when_committed_then_the_boards_tables_have_it) {
  const auto space = make_space();
  ASSERT_TRUE(space->map(va, device_page(0x40000), 8192, {}).ok());
  EXPECT_FALSE(translate(*space, va).has_value());
  ASSERT_TRUE(space->commit().ok());
  EXPECT_EQ(translate(*space, va + 4097), 0x41001U);
}

TEST_F(AddressSpaceTest, given_a_retired_thing_then_it_lives_until_the_commit_after_its_unmapping) {
  const auto space = make_space();
  ASSERT_TRUE(space->map(va, device_page(0x40000), 4096, {}).ok());
  ASSERT_TRUE(space->commit().ok());
  auto kept = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = kept;
  ASSERT_TRUE(space->unmap(va, 4096));
  space->retire(std::move(kept));
  EXPECT_FALSE(watch.expired());
  ASSERT_TRUE(space->commit().ok());
  EXPECT_TRUE(watch.expired());
  EXPECT_FALSE(translate(*space, va).has_value());
}

TEST_F(AddressSpaceTest, given_a_mapping_that_no_commit_saw_when_unmapped_then_nothing_is_owed) {
  const auto space = make_space();
  ASSERT_TRUE(space->commit().ok());
  ASSERT_TRUE(space->map(va, device_page(0x40000), 4096, {}).ok());
  EXPECT_FALSE(space->unmap(va, 4096));
}

TEST_F(AddressSpaceTest, given_unmap_now_then_the_board_has_lost_the_range_when_it_returns) {
  const auto space = make_space();
  ASSERT_TRUE(space->map(va, device_page(0x40000), 4096, {}).ok());
  ASSERT_TRUE(space->commit().ok());
  ASSERT_TRUE(space->unmap_now(va, 4096).ok());
  EXPECT_FALSE(translate(*space, va).has_value());
}

TEST_F(AddressSpaceTest, given_replace_then_the_board_has_the_new_target_when_it_returns) {
  const auto space = make_space();
  ASSERT_TRUE(space->map(va, device_page(0x40000), 4096, {}).ok());
  ASSERT_TRUE(space->commit().ok());
  ASSERT_TRUE(space->replace(va, device_page(0x50000), 4096, {}).ok());
  EXPECT_EQ(translate(*space, va), 0x50000U);
}

TEST_F(AddressSpaceTest,
       given_foreign_pages_then_they_are_cleared_once_and_before_the_board_gets_the_mapping) {
  const auto space = make_space();
  ASSERT_TRUE(space->map(va, device_page(0x40000), 4096, {}).ok());
  const PageRun foreign{{0x40000, 0}, 4096};
  space->clear_before_use(va, {foreign});
  EXPECT_TRUE(cleared_.empty());

  clear_answer_ = make_error(ErrorCode::unknown, "the board could not");
  EXPECT_FALSE(space->commit().ok());
  EXPECT_FALSE(translate(*space, va).has_value());

  clear_answer_ = {};
  cleared_.clear();
  ASSERT_TRUE(space->commit().ok());
  EXPECT_EQ(cleared_, std::vector{foreign});
  EXPECT_EQ(translate(*space, va), 0x40000U);
  ASSERT_TRUE(space->map(va + 4096, device_page(0x60000), 4096, {}).ok());
  ASSERT_TRUE(space->commit().ok());
  EXPECT_EQ(cleared_.size(), 1U);
}

TEST_F(AddressSpaceTest, given_foreign_pages_that_are_freed_before_any_commit_then_they_are_not_cleared) {
  const auto space = make_space();
  ASSERT_TRUE(space->map(va, device_page(0x40000), 4096, {}).ok());
  space->clear_before_use(va, {PageRun{{0x40000, 0}, 4096}});
  space->unmap(va, 4096);
  ASSERT_TRUE(space->commit().ok());
  EXPECT_TRUE(cleared_.empty());
}

TEST_F(AddressSpaceTest, given_foreign_pages_that_are_mapped_nowhere_when_committed_then_they_are_cleared) {
  const auto space = make_space();
  ASSERT_TRUE(space->commit().ok());
  const PageRun foreign{{0x40000, 0}, 4096};
  space->clear_before_use(va, {foreign});
  ASSERT_TRUE(space->commit().ok());
  EXPECT_EQ(cleared_, std::vector{foreign});
}

TEST_F(AddressSpaceTest,
       given_runs_of_which_one_is_foreign_when_mapped_then_all_are_seen_and_that_is_cleared) {
  const auto space = make_space();
  const PageRun own{{0x40000, 0}, 8192};
  const PageRun foreign{{0x90000, 0}, 4096};
  ASSERT_TRUE(space->map_runs(va, std::array{own, foreign}, {}, {foreign}).ok());
  EXPECT_TRUE(cleared_.empty());
  ASSERT_TRUE(space->commit().ok());
  EXPECT_EQ(cleared_, std::vector{foreign});
  EXPECT_EQ(translate(*space, va + 4096), 0x41000U);
  EXPECT_EQ(translate(*space, va + 8192), 0x90000U);
}

TEST_F(AddressSpaceTest, given_runs_that_find_no_table_page_when_mapped_then_none_is_mapped_or_cleared) {
  const auto space = make_space();
  std::vector<DeviceAddress> taken;
  for (Result<DeviceAddress> page = heap_.allocate_table(); page.ok(); page = heap_.allocate_table()) {
    taken.push_back(*page);
  }
  const PageRun foreign{{0x90000, 0}, 4096};
  EXPECT_FALSE(space->map_runs(va, std::array{foreign}, {}, {foreign}).ok());
  for (const DeviceAddress page : taken) {
    heap_.free_table(page);
  }
  ASSERT_TRUE(space->commit().ok());
  EXPECT_TRUE(cleared_.empty());
  EXPECT_FALSE(translate(*space, va).has_value());
}

TEST_F(AddressSpaceTest, given_many_scattered_unmappings_then_one_commit_brings_them_all) {
  const auto space = make_space();
  for (std::uint64_t index = 0; index < 100; ++index) {
    ASSERT_TRUE(space->map(va + index * 8192, device_page(0x100000 + index * 4096), 4096, {}).ok());
  }
  ASSERT_TRUE(space->commit().ok());
  for (std::uint64_t index = 0; index < 100; ++index) {
    EXPECT_TRUE(space->unmap(va + index * 8192, 4096));
  }
  ASSERT_TRUE(space->commit().ok());
  for (std::uint64_t index = 0; index < 100; ++index) {
    EXPECT_FALSE(translate(*space, va + index * 8192).has_value());
  }
}

TEST_F(AddressSpaceTest, given_all_spaces_of_the_board_are_taken_then_another_is_refused_until_one_ends) {
  std::vector<std::unique_ptr<AddressSpace>> spaces;
  for (unsigned index = 1; index < board_->capabilities().space_count; ++index) {
    spaces.push_back(make_space());
  }
  const auto refused = AddressSpace::create(*board_, heap_, {});
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(refused.error().code, ErrorCode::out_of_device_memory);
  spaces.pop_back();
  EXPECT_TRUE(AddressSpace::create(*board_, heap_, {}).ok());
}

TEST_F(AddressSpaceTest,
       given_the_space_ends_then_its_root_is_gone_its_pages_are_free_and_what_was_retired_ends) {
  const std::uint64_t before = heap_.free_bytes();
  auto kept = std::make_shared<int>(0);
  const std::weak_ptr<int> watch = kept;
  unsigned number = 0;
  {
    const auto space = make_space();
    number = space->number();
    ASSERT_TRUE(space->map(va, device_page(0x40000), 4096, {}).ok());
    ASSERT_TRUE(space->commit().ok());
    space->retire(std::move(kept));
  }
  EXPECT_TRUE(watch.expired());
  EXPECT_EQ(heap_.free_bytes(), before);
  EXPECT_FALSE(test::translate(*board_, number, raw(va)).has_value());
}

PageChange change_of(DeviceVa at, std::uint64_t bytes, bool was, bool is, std::uint64_t offset_bytes) {
  return PageChange{at, bytes, was, is, device_page(offset_bytes), {}};
}

TEST_F(AddressSpaceTest, given_a_part_of_a_large_page_when_it_goes_then_the_rest_stays_for_the_board) {
  const auto space = make_space();
  const PageChange whole = change_of(va, large_page_bytes, false, true, large_page_bytes);
  ASSERT_TRUE(space->change({&whole, 1}).ok());
  ASSERT_TRUE(space->commit().ok());
  const PageChange part = change_of(va + 4096, 4096, true, false, 0);
  Result<bool> changed = space->change({&part, 1});
  ASSERT_TRUE(changed.ok());
  EXPECT_TRUE(*changed);
  ASSERT_TRUE(space->commit().ok());
  EXPECT_EQ(translate(*space, va), large_page_bytes);
  EXPECT_FALSE(translate(*space, va + 4096).has_value());
  EXPECT_EQ(translate(*space, va + 8192), large_page_bytes + 8192);
}

TEST_F(AddressSpaceTest,
       given_several_changes_of_which_one_needs_a_table_that_is_not_to_be_had_then_none_is_made) {
  const auto space = make_space();
  const PageChange first = change_of(va, 4096, false, true, 0x40000);
  ASSERT_TRUE(space->change({&first, 1}).ok());
  ASSERT_TRUE(space->commit().ok());
  std::vector<DeviceAddress> taken;
  for (Result<DeviceAddress> page = heap_.allocate_table(); page.ok(); page = heap_.allocate_table()) {
    taken.push_back(*page);
  }
  const std::vector<PageChange> changes{change_of(va + 4096, 4096, false, true, 0x50000),
                                        change_of(va, 4096, true, false, 0),
                                        change_of(va + huge_page_bytes, 4096, false, true, 0x60000)};
  Result<bool> changed = space->change(changes);
  ASSERT_FALSE(changed.ok());
  EXPECT_EQ(changed.error().code, ErrorCode::out_of_device_memory);
  ASSERT_TRUE(space->commit().ok());
  EXPECT_EQ(translate(*space, va), 0x40000U);
  EXPECT_FALSE(translate(*space, va + 4096).has_value());
  for (const DeviceAddress page : taken) {
    heap_.free_table(page);
  }
}

TEST_F(AddressSpaceTest, given_pages_waiting_to_be_cleared_when_cancelled_then_they_are_left_alone) {
  const auto space = make_space();
  ASSERT_TRUE(space->commit().ok());
  space->clear_before_use(va, {PageRun{{0x40000, 0}, 4096}});
  EXPECT_TRUE(space->cancel_clear(va));
  EXPECT_FALSE(space->cancel_clear(va));
  ASSERT_TRUE(space->map(va, device_page(0x40000), 4096, {}).ok());
  ASSERT_TRUE(space->commit().ok());
  EXPECT_TRUE(cleared_.empty());
}

TEST_F(AddressSpaceTest, given_tables_of_a_range_that_is_not_used_again_then_their_pages_come_back) {
  const auto space = make_space();
  const std::uint64_t before = heap_.free_bytes();
  for (std::uint64_t index = 0; index < 20; ++index) {
    const PageChange mapped = change_of(va + index * large_page_bytes, 4096, false, true, 0x40000);
    ASSERT_TRUE(space->change({&mapped, 1}).ok());
  }
  ASSERT_TRUE(space->commit().ok());
  ASSERT_TRUE(space->unmap(va, huge_page_bytes));
  space->forget_tables(va, huge_page_bytes);
  ASSERT_TRUE(space->commit().ok());
  EXPECT_EQ(before - heap_.free_bytes(), 4096U) << "the one above stands for other addresses too";
}

}  // namespace
}  // namespace datum
