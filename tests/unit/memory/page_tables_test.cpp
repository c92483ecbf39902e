#include <map>

#include <gtest/gtest.h>

#include <datum/hw/registers.hpp>

#include "driver/memory/device_heap.hpp"
#include "driver/memory/page_tables.hpp"
#include "tests/unit/memory/sizes.hpp"

namespace datum {
namespace {

constexpr std::uint64_t table_va = 0x5500'0000'0000;

/// Device memory as the written entries left it, and a walk over it as the board contract describes it.
class TableMemory {
 public:
  void apply(const TableWrites& writes) {
    for (const TableWrites::Piece& piece : writes.pieces) {
      for (std::size_t index = 0; index < piece.count; ++index) {
        words_[piece.at.offset_bytes + 8 * index] = writes.entries[piece.first + index];
      }
    }
  }

  /// The leaf's address plus the offset in it; 0: not present.
  [[nodiscard]] std::uint64_t translate(DeviceAddress root, std::uint64_t address) const {
    std::uint64_t table = root.offset_bytes;
    for (unsigned level = 4; level-- > 0;) {
      const unsigned shift = 12 + 9 * level;
      const auto word = words_.find(table + 8 * ((address >> shift) & 511U));
      const hw::Pte entry{word == words_.end() ? 0 : word->second};
      if (!entry.valid()) {
        return 0;
      }
      if (entry.leaf()) {
        EXPECT_EQ(entry.address_bytes() & ((1ULL << shift) - 1), 0U);
        return entry.address_bytes() + (address & ((1ULL << shift) - 1));
      }
      table = entry.address_bytes();
    }
    return 0;
  }

 private:
  std::map<std::uint64_t, std::uint64_t> words_;
};

struct Tables {
  DeviceHeap heap{DeviceHeap::Options{0, 64 * mib, 16 * mib, true, 0}};
  std::unique_ptr<PageTables> tables = std::move(*PageTables::create(heap));
  TableMemory memory;

  void commit() { memory.apply(tables->take_changes()); }

  /// How many tables went out of use.
  std::size_t give_back_unused() {
    std::unique_ptr<PageTable> unused = tables->take_unused_tables();
    std::size_t count = 0;
    for (const PageTable* table = unused.get(); table != nullptr; table = table->next_unused.get()) {
      ++count;
    }
    PageTables::give_back(heap, std::move(unused));
    return count;
  }

  [[nodiscard]] std::uint64_t translate(std::uint64_t address) const {
    return memory.translate(tables->root(), address);
  }
};

std::uint64_t leaf(std::uint64_t address) {
  return hw::Pte{}.set_valid(true).set_leaf(true).set_writable(true).set_address_bytes(address).raw;
}

TEST(PageTables, given_a_mapped_page_when_committed_then_the_board_finds_it_and_not_its_neighbours) {
  Tables t;
  ASSERT_TRUE(t.tables->set(table_va, 4096, leaf(0x123000)).ok());
  EXPECT_EQ(t.translate(table_va), 0U);
  t.commit();
  EXPECT_EQ(t.translate(table_va + 5), 0x123005U);
  EXPECT_EQ(t.translate(table_va + 4096), 0U);
  EXPECT_EQ(t.translate(table_va - 1), 0U);
}

TEST(PageTables, given_a_range_that_alignment_lets_be_large_then_few_tables_are_used) {
  Tables t;
  const std::uint64_t before = t.heap.free_bytes();
  ASSERT_TRUE(t.tables->set(1ULL << 40U, 3ULL << 30U, leaf(1ULL << 32U)).ok());
  EXPECT_EQ(before - t.heap.free_bytes(), 4096U);  // one table of level 2; the root was there
  t.commit();
  EXPECT_EQ(t.translate((1ULL << 40U) + (3ULL << 30U) - 1), (1ULL << 32U) + (3ULL << 30U) - 1);
}

TEST(PageTables, given_ranges_of_mixed_alignment_then_every_byte_translates_linearly) {
  Tables t;
  const std::uint64_t bytes = 5 * mib + 3 * 4096;
  ASSERT_TRUE(t.tables->set(table_va + mib, bytes, leaf(4 * mib + 4096)).ok());
  t.commit();
  for (std::uint64_t offset = 0; offset < bytes; offset += 4096) {
    ASSERT_EQ(t.translate(table_va + mib + offset), 4 * mib + 4096 + offset);
  }
  EXPECT_EQ(t.translate(table_va + mib + bytes), 0U);
}

TEST(PageTables, given_a_mapping_that_was_never_committed_when_cleared_then_the_board_cannot_have_seen_it) {
  Tables t;
  ASSERT_TRUE(t.tables->set(table_va, 8192, leaf(0x123000)).ok());
  EXPECT_FALSE(t.tables->clear(table_va, 8192));
  t.commit();
  EXPECT_EQ(t.translate(table_va), 0U);
}

TEST(PageTables,
     given_a_committed_mapping_when_cleared_then_the_board_may_have_seen_it_and_loses_it_at_the_next_commit) {
  Tables t;
  ASSERT_TRUE(t.tables->set(table_va, 8192, leaf(0x123000)).ok());
  t.commit();
  EXPECT_TRUE(t.tables->clear(table_va, 8192));
  t.commit();
  EXPECT_EQ(t.translate(table_va), 0U);
  EXPECT_EQ(t.translate(table_va + 4096), 0U);
}

TEST(PageTables,
     given_small_pages_were_unmapped_when_a_large_page_takes_their_place_then_their_table_goes_out_of_use) {
  Tables t;
  ASSERT_TRUE(t.tables->set(table_va, 4096, leaf(0x123000)).ok());
  t.commit();
  ASSERT_TRUE(t.tables->clear(table_va, 4096));
  ASSERT_TRUE(t.tables->set(table_va, 2 * mib, leaf(4 * mib)).ok());
  EXPECT_EQ(t.give_back_unused(), 1U);
  t.commit();
  EXPECT_EQ(t.translate(table_va + mib), 5 * mib);
}

TEST(PageTables, given_nothing_changed_then_there_is_nothing_to_write) {
  Tables t;
  t.commit();
  EXPECT_TRUE(t.tables->take_changes().pieces.empty());
  ASSERT_TRUE(t.tables->set(table_va, 4096, leaf(0x123000)).ok());
  const TableWrites writes = t.tables->take_changes();
  EXPECT_EQ(writes.pieces.size(), 4U);
  EXPECT_TRUE(t.tables->take_changes().pieces.empty());
  t.tables->put_back(writes);
  EXPECT_EQ(t.tables->take_changes().pieces.size(), 4U);
}

TEST(PageTables, given_changes_then_a_table_is_written_before_the_entry_that_leads_to_it) {
  Tables t;
  t.commit();
  ASSERT_TRUE(t.tables->set(table_va, 4096, leaf(0x123000)).ok());
  const TableWrites writes = t.tables->take_changes();
  EXPECT_EQ(writes.pieces.back().at.offset_bytes & ~4095ULL, t.tables->root().offset_bytes);
}

TEST(PageTables, given_no_memory_for_tables_when_mapping_then_it_is_refused_and_nothing_is_mapped) {
  DeviceHeap heap({0, 64 * mib, 3 * 4096, true, 0});
  auto tables = std::move(*PageTables::create(heap));
  while (heap.allocate_table().ok()) {
  }
  const Status mapped = tables->set(table_va, 4096, leaf(0x123000));
  ASSERT_FALSE(mapped.ok());
  EXPECT_EQ(mapped.error().code, ErrorCode::out_of_device_memory);
  EXPECT_FALSE(tables->clear(table_va, 4096));
}

TEST(PageTables, given_the_tables_end_then_their_pages_are_free_again) {
  DeviceHeap heap({0, 64 * mib, 16 * mib, true, 0});
  {
    auto tables = std::move(*PageTables::create(heap));
    ASSERT_TRUE(tables->set(table_va, 5 * mib, leaf(4096)).ok());
    EXPECT_LT(heap.free_bytes(), 64 * mib);
  }
  EXPECT_EQ(heap.free_bytes(), 64 * mib);
}

TEST(PageTables, given_a_large_page_when_split_then_every_byte_leads_where_it_did_and_a_part_can_be_cleared) {
  Tables t;
  ASSERT_TRUE(t.tables->set(table_va, 2 * mib, leaf(4 * mib)).ok());
  t.commit();
  ASSERT_TRUE(t.tables->split(table_va + 4096).ok());
  t.commit();
  for (std::uint64_t offset = 0; offset < 2 * mib; offset += 4096) {
    ASSERT_EQ(t.translate(table_va + offset), 4 * mib + offset);
  }
  EXPECT_TRUE(t.tables->clear(table_va, 4096)) << "the board had seen it as part of the large page";
  t.commit();
  EXPECT_EQ(t.translate(table_va), 0U);
  EXPECT_EQ(t.translate(table_va + 4096), 4 * mib + 4096);
}

TEST(PageTables, given_a_huge_page_when_split_inside_a_small_one_then_each_level_gets_a_table) {
  constexpr std::uint64_t huge = 1ULL << 30U;
  constexpr std::uint64_t base = 1ULL << 40U;
  Tables t;
  ASSERT_TRUE(t.tables->set(base, huge, leaf(huge)).ok());
  t.commit();
  const std::uint64_t before = t.heap.free_bytes();
  ASSERT_TRUE(t.tables->split(base + 3 * mib).ok());
  EXPECT_EQ(before - t.heap.free_bytes(), 8192U);
  EXPECT_TRUE(t.tables->clear(base + 3 * mib, 2 * mib - mib));
  t.commit();
  EXPECT_EQ(t.translate(base + 3 * mib), 0U);
  EXPECT_EQ(t.translate(base + 3 * mib - 1), huge + 3 * mib - 1);
  EXPECT_EQ(t.translate(base + huge - 1), 2 * huge - 1);
}

TEST(PageTables,
     given_large_pages_that_are_to_lead_elsewhere_then_room_is_made_first_and_they_stay_meanwhile) {
  Tables t;
  ASSERT_TRUE(t.tables->set(table_va, 4 * mib, leaf(4 * mib)).ok());
  t.commit();
  ASSERT_TRUE(t.tables->make_replaceable(table_va, 4 * mib, leaf(16 * mib + 4096)).ok());
  t.commit();
  EXPECT_EQ(t.translate(table_va + mib), 5 * mib);
  EXPECT_TRUE(t.tables->replace(table_va, 4 * mib, leaf(16 * mib + 4096)))
      << "the board may have seen the old ones";
  t.commit();
  EXPECT_EQ(t.translate(table_va), 16 * mib + 4096);
  EXPECT_EQ(t.translate(table_va + 4 * mib - 1), 20 * mib + 4095);
}

TEST(PageTables, given_no_table_page_when_large_pages_are_to_lead_elsewhere_then_they_stay_as_they_were) {
  Tables t;
  ASSERT_TRUE(t.tables->set(table_va, 4 * mib, leaf(4 * mib)).ok());
  t.commit();
  while (t.heap.allocate_table().ok()) {
  }
  const Status made = t.tables->make_replaceable(table_va, 4 * mib, leaf(16 * mib + 4096));
  ASSERT_FALSE(made.ok());
  EXPECT_EQ(made.error().code, ErrorCode::out_of_device_memory);
  t.commit();
  EXPECT_EQ(t.translate(table_va + mib), 5 * mib);
  EXPECT_EQ(t.translate(table_va + 4 * mib - 1), 8 * mib - 1);
}

TEST(PageTables, given_an_end_that_no_large_page_reaches_across_when_split_then_nothing_is_taken) {
  Tables t;
  ASSERT_TRUE(t.tables->set(table_va, 2 * mib, leaf(4 * mib)).ok());
  const std::uint64_t before = t.heap.free_bytes();
  EXPECT_TRUE(t.tables->split(table_va).ok());
  EXPECT_TRUE(t.tables->split(table_va + 2 * mib).ok());
  EXPECT_TRUE(t.tables->split(table_va + 100 * mib + 4096).ok());
  EXPECT_EQ(before, t.heap.free_bytes());
}

TEST(PageTables, given_a_range_that_was_unmapped_when_its_tables_are_dropped_then_only_its_own_go) {
  Tables t;
  ASSERT_TRUE(t.tables->set(table_va, 4096, leaf(0x123000)).ok());
  ASSERT_TRUE(t.tables->set(table_va + 2 * mib, 4096, leaf(0x124000)).ok());
  ASSERT_TRUE(t.tables->set(table_va + 4 * mib, 4096, leaf(0x125000)).ok());
  t.commit();
  ASSERT_TRUE(t.tables->clear(table_va, 4 * mib));
  t.tables->drop_empty_tables(table_va + mib, 3 * mib);
  EXPECT_EQ(t.give_back_unused(), 1U) << "the first table stands for more than the range";
  t.commit();
  EXPECT_EQ(t.translate(table_va + 2 * mib), 0U);
  EXPECT_EQ(t.translate(table_va + 4 * mib), 0x125000U);
  ASSERT_TRUE(t.tables->set(table_va + 2 * mib, 4096, leaf(0x126000)).ok());
  t.commit();
  EXPECT_EQ(t.translate(table_va + 2 * mib), 0x126000U);
}

}  // namespace
}  // namespace datum
