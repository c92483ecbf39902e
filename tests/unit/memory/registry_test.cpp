#include <array>
#include <atomic>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "driver/memory/registry.hpp"

namespace datum {
namespace {

constexpr std::uintptr_t somewhere = 0x7000'0000'0000;

Context* context_of(std::uintptr_t number) { return reinterpret_cast<Context*>(number); }

Allocation allocation_at(std::uintptr_t base, std::uint64_t bytes, std::uint64_t id = 1) {
  Allocation allocation;
  allocation.id = id;
  allocation.base = base;
  allocation.size_bytes = bytes;
  allocation.context = context_of(1);
  return allocation;
}

TEST(Registry, given_an_allocation_then_every_byte_of_its_span_finds_it_and_no_other_does) {
  Registry registry;
  ASSERT_TRUE(registry.insert(allocation_at(somewhere, 5000)).ok());
  EXPECT_EQ(registry.find(somewhere)->base, somewhere);
  EXPECT_EQ(registry.find(somewhere + 8191)->base, somewhere);
  EXPECT_FALSE(registry.find(somewhere + 8192).has_value());
  EXPECT_FALSE(registry.find(somewhere - 1).has_value());
}

TEST(Registry, given_addresses_that_no_process_has_then_nothing_is_found) {
  Registry registry;
  EXPECT_FALSE(registry.find(0).has_value());
  EXPECT_FALSE(registry.find(1ULL << 47U).has_value());
  EXPECT_FALSE(registry.find(~0ULL).has_value());
}

TEST(Registry, given_a_range_across_entries_of_all_levels_then_both_ends_and_the_middle_find_it) {
  Registry registry;
  const std::uintptr_t base = somewhere + (1ULL << 39U) - 3 * 4096;
  const std::uint64_t bytes = (2ULL << 39U) + (3ULL << 30U) + (5ULL << 21U) + 7 * 4096;
  ASSERT_TRUE(registry.insert(allocation_at(base, bytes)).ok());
  for (const std::uint64_t offset : {std::uint64_t{0}, std::uint64_t{3 * 4096}, bytes / 2, bytes - 1}) {
    EXPECT_TRUE(registry.find(base + offset).has_value()) << offset;
  }
  EXPECT_FALSE(registry.find(base - 1).has_value());
  EXPECT_FALSE(registry.find(base + bytes).has_value());
  ASSERT_TRUE(registry.erase(base, context_of(1)).has_value());
  EXPECT_FALSE(registry.find(base + bytes / 2).has_value());
}

TEST(Registry, given_a_live_range_when_another_overlaps_it_then_that_is_refused_and_changes_nothing) {
  Registry registry;
  ASSERT_TRUE(registry.insert(allocation_at(somewhere, 16 * 4096, 1)).ok());
  const Status overlapping = registry.insert(allocation_at(somewhere + 15 * 4096, 4 * 4096, 2));
  ASSERT_FALSE(overlapping.ok());
  EXPECT_EQ(overlapping.error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(registry.find(somewhere + 15 * 4096)->id, 1U);
  EXPECT_FALSE(registry.find(somewhere + 16 * 4096).has_value());
}

TEST(Registry, given_a_small_range_was_there_when_a_large_one_takes_its_place_then_all_of_it_is_found) {
  Registry registry;
  ASSERT_TRUE(registry.insert(allocation_at(somewhere + 4096, 4096)).ok());
  ASSERT_TRUE(registry.erase(somewhere + 4096, context_of(1)).has_value());
  ASSERT_TRUE(registry.insert(allocation_at(somewhere, 64ULL << 20U, 2)).ok());
  for (std::uint64_t offset = 0; offset < (64ULL << 20U); offset += 1ULL << 20U) {
    EXPECT_EQ(registry.find(somewhere + offset)->id, 2U);
  }
}

TEST(Registry, given_a_page_that_is_alone_and_part_of_a_larger_one_by_turns_then_it_is_found_as_what_it_is) {
  Registry registry;
  for (std::uint64_t id = 1; id < 9; id += 2) {
    ASSERT_TRUE(registry.insert(allocation_at(somewhere + 4096, 4096, id)).ok());
    EXPECT_EQ(registry.find(somewhere + 4096 + 17)->id, id);
    EXPECT_FALSE(registry.find(somewhere).has_value());
    ASSERT_TRUE(registry.erase(somewhere + 4096, context_of(1)).has_value());
    EXPECT_FALSE(registry.find(somewhere + 4096).has_value());
    ASSERT_TRUE(registry.insert(allocation_at(somewhere, 3 * 4096, id + 1)).ok());
    EXPECT_EQ(registry.find(somewhere + 4096)->id, id + 1);
    EXPECT_FALSE(registry.erase(somewhere + 4096, context_of(1)).has_value());
    ASSERT_TRUE(registry.erase(somewhere, context_of(1)).has_value());
    EXPECT_FALSE(registry.find(somewhere + 4096).has_value());
  }
}

TEST(Registry, given_an_interior_pointer_or_another_owner_when_erasing_then_nothing_is_erased) {
  Registry registry;
  ASSERT_TRUE(registry.insert(allocation_at(somewhere, 8192)).ok());
  EXPECT_FALSE(registry.erase(somewhere + 4096, context_of(1)).has_value());
  EXPECT_FALSE(registry.erase(somewhere, context_of(2)).has_value());
  EXPECT_TRUE(registry.erase(somewhere, context_of(1)).has_value());
  EXPECT_FALSE(registry.erase(somewhere, context_of(1)).has_value());
}

TEST(Registry, given_an_allocation_inside_pages_when_imported_then_its_pages_find_it_and_else_it_is_refused) {
  Registry registry;
  Allocation allocation = allocation_at(somewhere + 100, 2 * small_page_bytes);
  EXPECT_FALSE(registry.insert(allocation).ok());
  allocation.imported = true;
  ASSERT_TRUE(registry.insert(allocation).ok());
  EXPECT_EQ(3 * small_page_bytes, allocation.span_bytes());
  EXPECT_EQ(somewhere + 100, registry.find(somewhere)->base);
  EXPECT_EQ(somewhere + 100, registry.find(somewhere + 3 * small_page_bytes - 1)->base);
  EXPECT_FALSE(registry.find(somewhere + 3 * small_page_bytes).has_value());
  EXPECT_FALSE(registry.insert(allocation_at(somewhere, 1)).ok()) << "the page is taken";
  EXPECT_FALSE(registry.erase(somewhere, context_of(1), true).has_value());
  ASSERT_TRUE(registry.erase(somewhere + 100, context_of(1), true).has_value());
  EXPECT_FALSE(registry.find(somewhere).has_value());
  EXPECT_TRUE(registry.insert(allocation_at(somewhere, 3 * small_page_bytes)).ok()) << "all of it is free";
}

TEST(Registry, given_writers_that_reuse_addresses_when_readers_look_then_they_see_whole_allocations_only) {
  Registry registry;
  std::atomic<bool> stop{false};
  std::atomic<unsigned> torn{0};
  std::vector<std::thread> readers;
  for (unsigned reader = 0; reader < 2; ++reader) {
    readers.emplace_back([&] {
      std::uintptr_t address = somewhere;
      while (!stop.load(std::memory_order_relaxed)) {
        address = somewhere + (address * 5 + 4096) % (64 * 4096);
        const auto found = registry.find(address);
        // The writer keeps size and id in step.
        if (found && (found->size_bytes != (found->id % 8 + 1) * 4096 ||
                      address - found->base >= found->span_bytes())) {
          torn.fetch_add(1);
        }
      }
    });
  }
  std::uint64_t id = 0;
  for (unsigned round = 0; round < 4'000; ++round) {
    std::vector<std::uintptr_t> bases;
    for (std::uintptr_t base = somewhere; base < somewhere + 56 * 4096;) {
      ++id;
      const std::uint64_t bytes = (id % 8 + 1) * 4096;
      ASSERT_TRUE(registry.insert(allocation_at(base, bytes, id)).ok());
      bases.push_back(base);
      base += bytes;
    }
    for (const std::uintptr_t base : bases) {
      ASSERT_TRUE(registry.erase(base, context_of(1)).has_value());
    }
  }
  stop = true;
  for (std::thread& reader : readers) {
    reader.join();
  }
  EXPECT_EQ(torn.load(), 0U);
}

TEST(Registry, given_a_reservation_when_an_allocation_is_erased_at_its_base_then_it_stays_and_so_vice_versa) {
  Registry registry;
  Allocation reservation = allocation_at(somewhere, 8192);
  reservation.kind = AllocationKind::virtual_reservation;
  ASSERT_TRUE(registry.insert(reservation).ok());
  ASSERT_TRUE(registry.insert(allocation_at(somewhere + 8192, 4096)).ok());
  EXPECT_FALSE(registry.erase(somewhere, context_of(1)).has_value());
  EXPECT_FALSE(registry.erase_reservation(somewhere + 8192, context_of(1)).has_value());
  EXPECT_TRUE(registry.erase_reservation(somewhere, context_of(1)).has_value());
  EXPECT_TRUE(registry.erase(somewhere + 8192, context_of(1)).has_value());
}

/// Runs `step(thread)` in so many threads at once.
template <class Step>
void in_threads(unsigned count, Step&& step) {
  std::vector<std::thread> threads;
  for (unsigned index = 0; index < count; ++index) {
    threads.emplace_back([&step, index] { step(index); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
}

TEST(Registry, given_threads_that_want_the_same_pages_then_each_page_is_one_threads_and_is_erased_once) {
  constexpr unsigned pages = 512;
  Registry registry;
  ASSERT_TRUE(registry.insert(allocation_at(somewhere + pages * 4096, 4096)).ok());
  std::atomic<unsigned> inserted{0};
  std::atomic<unsigned> erased{0};
  in_threads(4, [&](unsigned thread) {
    for (unsigned page = 0; page < pages; ++page) {
      inserted += registry.insert(allocation_at(somewhere + page * 4096, 4096, 10 + thread)).ok() ? 1 : 0;
    }
  });
  EXPECT_EQ(inserted.load(), pages);
  in_threads(4, [&](unsigned) {
    for (unsigned page = 0; page < pages; ++page) {
      erased += registry.erase(somewhere + page * 4096, context_of(1)).has_value() ? 1 : 0;
    }
  });
  EXPECT_EQ(erased.load(), pages);
  EXPECT_FALSE(registry.find(somewhere).has_value());
}

TEST(Registry, given_threads_that_want_pages_and_ranges_across_them_then_no_two_that_got_theirs_overlap) {
  Registry registry;
  constexpr unsigned rounds = 2000;
  std::array<std::atomic<unsigned>, 64> holders{};
  std::atomic<unsigned> overlaps{0};
  in_threads(3, [&](unsigned thread) {
    const unsigned count = thread == 0 ? 1 : 8;
    for (unsigned round = 0; round < rounds; ++round) {
      const unsigned first = (round * 7 + thread * 3) % (64 - count);
      if (!registry.insert(allocation_at(somewhere + first * 4096, count * 4096, thread + 1)).ok()) {
        continue;
      }
      for (unsigned page = first; page < first + count; ++page) {
        overlaps += holders[page].fetch_add(1) != 0 ? 1 : 0;
      }
      for (unsigned page = first; page < first + count; ++page) {
        holders[page].fetch_sub(1);
      }
      overlaps += registry.erase(somewhere + first * 4096, context_of(1)).has_value() ? 0 : 1;
    }
  });
  EXPECT_EQ(overlaps.load(), 0U);
  EXPECT_TRUE(registry.insert(allocation_at(somewhere, 64 * 4096)).ok()) << "nothing was left behind";
}

}  // namespace
}  // namespace datum
