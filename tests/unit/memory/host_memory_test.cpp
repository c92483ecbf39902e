#include <algorithm>
#include <bit>
#include <cstring>
#include <optional>
#include <set>
#include <thread>
#include <vector>

#include <gtest/gtest.h>

#include "driver/memory/address_window.hpp"
#include "driver/memory/dma_map.hpp"
#include "driver/memory/host_memory.hpp"
#include "tests/fakes/held_function.hpp"
#include "tests/unit/memory/model_board.hpp"
#include "tests/unit/memory/sizes.hpp"

namespace datum {
namespace {

class HostMemory : public ::testing::Test {
 protected:
  explicit HostMemory(const std::string& options = "memory=64M")
      : board_(test::open_model(options)), dma_(board_->function()) {}

  Result<HostPages> take(std::uint64_t bytes, std::uint64_t alignment = 1) {
    DmaMap* const maps[] = {&dma_};
    return pool_.take(bytes, alignment, maps);
  }

  std::unique_ptr<Board> board_;
  DmaMap dma_;
  std::unique_ptr<AddressWindow> window_ = std::move(*AddressWindow::reserve());
  HostPool pool_{*window_};
};

/// 8 MiB is what an ordinary user may lock.
class HostMemoryWithin8MiB : public HostMemory {
 protected:
  HostMemoryWithin8MiB() : HostMemory("memory=64M,locked=8M") {}
};

TEST_F(HostMemory, given_small_pages_then_they_share_a_piece_and_one_mapping_for_the_board) {
  const HostPages first = *take(4096);
  const HostPages second = *take(100'000);
  EXPECT_EQ(first.piece, second.piece);
  EXPECT_EQ(raw(second.iova(dma_)) - raw(first.iova(dma_)),
            static_cast<std::uint64_t>(second.host - first.host));
  std::memset(first.host, 1, 4096);
  std::memset(second.host, 2, 100'000);
  EXPECT_EQ(static_cast<int>(first.host[4095]), 1);
  pool_.release(first);
  pool_.release(second);
}

TEST_F(HostMemory, given_large_memory_then_it_is_a_piece_of_its_own_in_the_window_and_gone_after_release) {
  const HostPages pages = *take(5 * mib + 1);
  EXPECT_TRUE(pages.whole_piece);
  EXPECT_EQ(pages.bytes, 5 * mib + 4096);
  EXPECT_TRUE(window_->overlaps(reinterpret_cast<std::uintptr_t>(pages.host), pages.bytes));
  std::memset(pages.host, 3, pages.bytes);
  std::byte* const host = pages.host;
  const Iova iova = pages.iova(dma_);
  pool_.release(pages);
  EXPECT_EQ(board_->function().dma_unmap(iova, 5 * mib + 4096).error().code, ErrorCode::invalid_argument);
  EXPECT_DEATH(*reinterpret_cast<volatile char*>(host) = 1, "");
}

TEST_F(HostMemory, given_pages_of_one_owner_when_another_takes_them_then_they_are_zero) {
  DmaMap* const maps[] = {&dma_};
  const HostPages neighbour = *pool_.take(4096, 1, maps, 1);
  HostPages pages = *pool_.take(8192, 1, maps, 1);
  std::byte* const host = pages.host;
  std::memset(host, 7, 8192);
  pool_.release(pages);
  pages = *pool_.take(8192, 1, maps, 1);
  ASSERT_EQ(pages.host, host);
  EXPECT_EQ(std::count(host, host + 8192, std::byte{7}), 8192) << "within one owner nothing is cleared";
  pool_.release(pages);
  pages = *pool_.take(8192, 1, maps, 2);
  ASSERT_EQ(pages.host, host);
  EXPECT_EQ(std::count(host, host + 8192, std::byte{0}), 8192);
  pool_.release(pages);
  pool_.release(neighbour);
}

TEST_F(HostMemory,
       given_a_large_piece_that_the_kernel_is_slow_to_map_when_others_take_pages_then_they_get_them) {
  test::HeldFunction slow(board_->function());
  DmaMap slow_dma(slow);
  DmaMap* const maps[] = {&slow_dma};
  const HostPages neighbour = *pool_.take(4096, 1, maps);
  slow.hold();
  std::optional<HostPages> large;
  std::thread stuck([&] { large = *pool_.take(8 * mib, 1, maps); });
  slow.wait_until_one_is_held();
  const HostPages small = *pool_.take(4096, 1, maps);  // comes back, though the other is under way
  pool_.release(small);
  EXPECT_FALSE(large.has_value());
  slow.let_go();
  stuck.join();
  ASSERT_TRUE(large.has_value());
  EXPECT_NE(raw(large->iova(slow_dma)), 0U);
  pool_.release(*large);
  pool_.release(neighbour);
  pool_.forget_board(slow_dma);
}

TEST_F(HostMemory,
       given_a_shared_piece_that_the_kernel_is_slow_to_map_when_others_find_pages_elsewhere_then_they_go_on) {
  test::HeldFunction slow(board_->function());
  DmaMap slow_dma(slow);
  DmaMap* const maps[] = {&slow_dma};
  const HostPages held = *pool_.take(mib, 1, maps);  // half of the first piece
  const HostPages half_of_the_rest = *pool_.take(mib / 2, 1, maps);
  slow.hold();
  std::optional<HostPages> second;
  std::thread stuck([&] { second = *pool_.take(mib, 1, maps); });  // for which the first piece has no room
  slow.wait_until_one_is_held();
  const HostPages small = *pool_.take(4096, 1, maps);
  EXPECT_EQ(small.piece, held.piece);
  EXPECT_NE(raw(small.iova(slow_dma)), 0U);
  EXPECT_EQ(pool_.board_count(small), 1U);
  pool_.release(small);
  EXPECT_FALSE(second.has_value());
  slow.let_go();
  stuck.join();
  ASSERT_TRUE(second.has_value());
  EXPECT_NE(second->piece, held.piece);
  EXPECT_NE(raw(second->iova(slow_dma)), 0U);
  for (const HostPages& pages : {*second, half_of_the_rest, held}) {
    pool_.release(pages);
  }
  pool_.forget_board(slow_dma);
}

TEST_F(HostMemory, given_room_that_comes_back_while_a_shared_piece_is_mapped_then_it_is_used) {
  test::HeldFunction slow(board_->function());
  DmaMap slow_dma(slow);
  DmaMap* const maps[] = {&slow_dma};
  const HostPages first = *pool_.take(mib, 1, maps);
  const HostPages second = *pool_.take(mib, 1, maps);
  slow.hold();
  std::optional<HostPages> third;
  std::thread stuck([&] { third = *pool_.take(mib, 1, maps); });
  slow.wait_until_one_is_held();
  pool_.release(second);  // comes back, too
  slow.let_go();
  stuck.join();
  ASSERT_TRUE(third.has_value());
  EXPECT_EQ(third->host, second.host);
  pool_.release(*third);
  pool_.release(first);
  pool_.forget_board(slow_dma);
}

TEST_F(HostMemory,
       given_a_board_that_the_kernel_is_slow_to_map_a_shared_piece_for_when_another_uses_it_then_it_goes_on) {
  const std::unique_ptr<Board> other = test::open_model("memory=64M");
  test::HeldFunction slow(other->function());
  DmaMap slow_dma(slow);
  const HostPages quick = *take(4096);
  slow.hold();
  std::optional<HostPages> second;
  std::thread stuck([&] {
    DmaMap* const maps[] = {&slow_dma};
    second = *pool_.take(4096, 1, maps);
  });
  slow.wait_until_one_is_held();
  const HostPages another = *take(4096);
  EXPECT_EQ(another.piece, quick.piece);
  EXPECT_EQ(raw(another.iova(dma_)) - raw(quick.iova(dma_)),
            static_cast<std::uint64_t>(another.host - quick.host));
  EXPECT_FALSE(second.has_value());
  slow.let_go();
  stuck.join();
  ASSERT_TRUE(second.has_value());
  EXPECT_EQ(second->piece, quick.piece) << "one piece for both boards";
  EXPECT_EQ(pool_.board_count(quick), 2U);
  for (const HostPages& pages : {*second, another, quick}) {
    pool_.release(pages);
  }
  pool_.forget_board(slow_dma);
}

TEST_F(HostMemory, given_threads_that_want_more_than_there_is_at_once_then_one_of_them_makes_it_for_all) {
  test::HeldFunction slow(board_->function());
  DmaMap slow_dma(slow);
  DmaMap* const maps[] = {&slow_dma};
  slow.hold();
  std::vector<HostPages> taken(8);
  std::vector<std::thread> threads;
  for (HostPages& pages : taken) {
    threads.emplace_back([&] { pages = *pool_.take(4096, 1, maps); });
  }
  slow.wait_until_one_is_held();
  slow.let_go();
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const HostPages& pages : taken) {
    EXPECT_EQ(pages.piece, taken.front().piece) << "2 MiB of locked memory, not 16";
    pool_.release(pages);
  }
  pool_.forget_board(slow_dma);
}

TEST_F(HostMemory, given_an_alignment_then_host_addresses_have_it) {
  for (std::uint64_t alignment = 4096; alignment <= 64 * mib; alignment *= 2) {
    const HostPages pages = *take(4096, alignment);
    EXPECT_TRUE(is_aligned(reinterpret_cast<std::uintptr_t>(pages.host), alignment)) << alignment;
    pool_.release(pages);
  }
}

TEST_F(HostMemoryWithin8MiB,
       given_small_blocks_then_four_pieces_of_them_fit_and_the_fifth_is_refused_with_the_reason) {
  std::vector<HostPages> live;
  for (unsigned index = 0; index < 8; ++index) {
    Result<HostPages> pages = take(mib);
    ASSERT_TRUE(pages.ok()) << pages.error().message;
    live.push_back(*pages);
  }
  const Result<HostPages> more = take(mib);
  ASSERT_FALSE(more.ok());
  EXPECT_EQ(more.error().code, ErrorCode::out_of_host_memory);
  EXPECT_NE(more.error().message.find("cannot be made reachable for the board"), std::string::npos);
  EXPECT_EQ(more.error().hint.find("RLIMIT_MEMLOCK"), std::string::npos) << "it is the board's own limit";
  EXPECT_NE(more.error().hint.find("locked="), std::string::npos) << more.error().hint;
  for (const HostPages& pages : live) {
    pool_.release(pages);
  }
  Result<HostPages> again = take(4096);
  ASSERT_TRUE(again.ok());
  pool_.release(*again);
}

TEST_F(HostMemory, given_two_boards_then_pages_have_an_address_for_each) {
  const auto other = test::open_model("memory=64M");
  DmaMap other_dma(other->function());
  DmaMap* const maps[] = {&dma_, &other_dma};
  const HostPages pages = *pool_.take(4096, 1, maps);
  EXPECT_NE(raw(pages.iova(dma_)), 0U);
  EXPECT_NE(raw(pages.iova(other_dma)), 0U);
  pool_.release(pages);
  pool_.forget_board(other_dma);
}

TEST_F(HostMemory, given_an_arena_then_blocks_are_zero_aligned_and_apart) {
  HostArena arena(pool_, dma_);
  std::vector<HostBlock> blocks;
  for (const std::uint64_t bytes : {1U, 64U, 65U, 1000U, 2048U, 2049U, 4096U, 70'000U, 3'000'000U}) {
    const HostBlock block = *arena.allocate(bytes);
    EXPECT_GE(block.bytes, bytes);
    EXPECT_TRUE(is_aligned(reinterpret_cast<std::uintptr_t>(block.host),
                           std::min<std::uint64_t>(std::bit_ceil(bytes), 4096)));
    for (std::uint64_t byte = 0; byte < block.bytes; ++byte) {
      ASSERT_EQ(static_cast<int>(block.host[byte]), 0);
    }
    std::memset(block.host, 0xff, block.bytes);
    blocks.push_back(block);
  }
  for (const HostBlock& block : blocks) {
    arena.free(block);
  }
}

TEST_F(HostMemory, given_many_small_blocks_when_freed_and_taken_again_then_they_are_zero_and_all_different) {
  HostArena arena(pool_, dma_);
  for (unsigned round = 0; round < 3; ++round) {
    std::set<std::byte*> seen;
    std::vector<HostBlock> blocks;
    for (unsigned index = 0; index < 300; ++index) {
      const HostBlock block = *arena.allocate(64);
      ASSERT_EQ(static_cast<int>(block.host[63]), 0);
      ASSERT_TRUE(seen.insert(block.host).second);
      block.host[63] = std::byte{1};
      blocks.push_back(block);
    }
    for (const HostBlock& block : blocks) {
      arena.free(block);
    }
  }
}

TEST_F(HostMemory, given_pages_of_an_arena_when_freed_and_taken_again_then_they_are_zero) {
  constexpr std::uint64_t bytes = 65'536;
  HostArena arena(pool_, dma_);
  const HostBlock first = *arena.allocate(bytes);
  const HostBlock kept = *arena.allocate(bytes);  // so that their piece stays
  std::memset(first.host, 0xff, bytes);
  arena.free(first);

  const HostBlock again = *arena.allocate(bytes);

  ASSERT_EQ(again.host, first.host);
  EXPECT_EQ(std::count(again.host, again.host + bytes, std::byte{0}), static_cast<std::ptrdiff_t>(bytes));
  arena.free(again);
  arena.free(kept);
}

TEST_F(HostMemory, given_pages_then_they_say_whether_anybody_had_them_before) {
  const HostPages kept = *take(4096);  // so that their piece stays
  const HostPages first = *take(65'536);
  EXPECT_TRUE(first.unused_before);
  pool_.release(first);

  const HostPages again = *take(65'536);
  ASSERT_EQ(again.host, first.host);
  EXPECT_FALSE(again.unused_before);
  const HostPages partly = *take(1U << 20U);
  EXPECT_TRUE(partly.unused_before);

  pool_.release(again);
  pool_.release(partly);
  const HostPages over_both = *take(1U << 20U);
  EXPECT_FALSE(over_both.unused_before);
  pool_.release(over_both);
  pool_.release(kept);
}

}  // namespace
}  // namespace datum
