// Pages that move into a file while somebody writes to them.
#include <atomic>
#include <cstring>
#include <fcntl.h>
#include <functional>
#include <string>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include <datum/base/address.hpp>
#include <datum/base/unique_fd.hpp>

#include "driver/memory/moved_pages.hpp"
#include "tests/unit/memory/sizes.hpp"

namespace datum {
namespace {

constexpr std::size_t pages_bytes = 64 * page;

UniqueFd make_writable_file(std::size_t bytes) {
  UniqueFd file(::memfd_create("test", MFD_CLOEXEC));
  EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(bytes)), 0);
  return file;
}

std::byte* map_file(int file, std::size_t bytes) {
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED, file, 0);
  EXPECT_NE(base, MAP_FAILED);
  return static_cast<std::byte*>(base);
}

class Moving : public ::testing::TestWithParam<WriteHold> {
 protected:
  Moving()
      : arena_file_(make_writable_file(3 * pages_bytes)),
        arena_(map_file(arena_file_.get(), 3 * pages_bytes)),
        pages_(arena_ + pages_bytes, pages_bytes),
        file_(make_writable_file(pages_bytes)),
        view_(map_file(file_.get(), pages_bytes)) {}

  ~Moving() override {
    ::munmap(arena_, 3 * pages_bytes);
    ::munmap(view_, pages_bytes);
  }

  std::unique_ptr<MovedPages> move() {
    Result<std::unique_ptr<MovedPages>> moved = MovedPages::move(pages_, file_.get(), GetParam());
    EXPECT_TRUE(moved.ok());
    return moved.ok() ? std::move(*moved) : nullptr;
  }

  [[nodiscard]] std::atomic_ref<std::uint64_t> word(std::size_t index) const {
    return std::atomic_ref(reinterpret_cast<std::uint64_t*>(pages_.data())[index]);
  }

  [[nodiscard]] std::uint64_t seen(std::size_t index) const {
    return std::atomic_ref(reinterpret_cast<std::uint64_t*>(view_)[index]).load();
  }

  UniqueFd arena_file_;
  std::byte* arena_;
  std::span<std::byte> pages_;
  UniqueFd file_;
  std::byte* view_;
};

std::string name_of(const ::testing::TestParamInfo<WriteHold>& hold) {
  switch (hold.param) {
  case WriteHold::wanted:
    return "with_hold";
  case WriteHold::of_user_code:
    return "with_hold_of_user_code";
  case WriteHold::none:
    break;
  }
  return "without";
}

INSTANTIATE_TEST_SUITE_P(Holds, Moving,
                         ::testing::Values(WriteHold::wanted, WriteHold::of_user_code, WriteHold::none),
                         name_of);

TEST_P(Moving, given_pages_then_they_are_in_the_file_and_at_their_address) {
  std::memset(arena_, 7, 3 * pages_bytes);
  const auto moved = move();
  ASSERT_NE(moved, nullptr);
  EXPECT_EQ(view_[0], std::byte{7});
  EXPECT_EQ(view_[pages_bytes - 1], std::byte{7});
  word(5).store(99);
  EXPECT_EQ(seen(5), 99U);
  EXPECT_EQ(arena_[pages_bytes - 1], std::byte{7});
  arena_[pages_bytes - 1] = std::byte{8};
  arena_[2 * pages_bytes] = std::byte{8};
  EXPECT_EQ(view_[0], std::byte{7}) << "neighbours have not moved";
}

TEST_P(Moving, given_the_end_then_the_old_pages_are_back_and_the_file_keeps_its_bytes) {
  word(0).store(1);
  auto moved = move();
  ASSERT_NE(moved, nullptr);
  moved->take_over_late_writes();
  word(0).store(2);
  ASSERT_TRUE(moved->restore());
  moved.reset();
  EXPECT_EQ(word(0).load(), 1U);
  word(0).store(3);
  EXPECT_EQ(seen(0), 2U);
  // The old pages are those of the arena's file again.
  std::uint64_t value = 0;
  ASSERT_EQ(::pread(arena_file_.get(), &value, sizeof value, pages_bytes), 8);
  EXPECT_EQ(value, 3U);
}

TEST_P(Moving, given_writes_to_the_old_pages_after_the_copy_then_they_are_taken_over_byte_by_byte) {
  word(0).store(0x1111111111111111);
  word(1).store(0x2222222222222222);
  const auto moved = move();
  ASSERT_NE(moved, nullptr);
  // As a board does that still has the old pages.
  const std::uint64_t late[] = {0x11111111111111ff, 0x2222222222ffffff};
  ASSERT_EQ(::pwrite(arena_file_.get(), late, sizeof late, pages_bytes), 16);
  word(1).store(0xaa22222222222233);  // newer than the late write
  moved->take_over_late_writes();
  EXPECT_EQ(word(0).load(), 0x11111111111111ffU);
  EXPECT_EQ(word(1).load(), 0xaa22222222ffff33U);
  EXPECT_EQ(seen(0), 0x11111111111111ffU);
}

TEST_P(Moving, given_threads_that_write_then_no_write_is_lost) {
  constexpr std::size_t threads_count = 3;
  constexpr std::size_t words = pages_bytes / sizeof(std::uint64_t);
  std::atomic<bool> stop = false;
  std::atomic<std::uint64_t> rounds[threads_count] = {};
  std::vector<std::thread> threads;
  for (std::size_t thread = 0; thread < threads_count; ++thread) {
    // Each thread has words of its own and counts up, so that the last value of each word is known.
    threads.emplace_back([&, thread] {
      std::uint64_t round = 0;
      while (!stop.load(std::memory_order_relaxed)) {
        ++round;
        for (std::size_t index = thread; index < words; index += threads_count) {
          word(index).store(round, std::memory_order_relaxed);
        }
        rounds[thread].store(round);
      }
    });
  }
  while (rounds[0] < 2 || rounds[1] < 2 || rounds[2] < 2) {
    std::this_thread::yield();
  }
  std::vector<UniqueFd> files;
  std::vector<std::unique_ptr<MovedPages>> moves;
  for (int time = 0; time < 20; ++time) {
    files.push_back(make_writable_file(pages_bytes));
    Result<std::unique_ptr<MovedPages>> moved = MovedPages::move(pages_, files.back().get(), GetParam());
    EXPECT_TRUE(moved.ok());
    (*moved)->take_over_late_writes();
    moves.push_back(std::move(*moved));
  }
  stop = true;
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (std::size_t index = 0; index < words; ++index) {
    ASSERT_EQ(word(index).load(), rounds[index % threads_count].load()) << index;
  }
}

/// Moves the pages again and again while a thread works on them.
class MovingWithHold : public Moving {
 protected:
  /// Skips where the kernel holds nobody.
  void move_while(const std::function<void()>& work) {
    std::atomic<bool> stop = false;
    std::thread working([&] {
      while (!stop.load(std::memory_order_relaxed)) {
        work();
      }
    });
    bool held = true;
    for (int time = 0; time < 50 && held; ++time) {
      files_.push_back(make_writable_file(pages_bytes));
      Result<std::unique_ptr<MovedPages>> moved = MovedPages::move(pages_, files_.back().get(), GetParam());
      EXPECT_TRUE(moved.ok());
      (*moved)->take_over_late_writes();
      held = (*moved)->held_writes();
      moves_.push_back(std::move(*moved));
    }
    stop = true;
    working.join();
    if (!held) {
      GTEST_SKIP() << "this process may not use userfaultfd";
    }
  }

  std::vector<UniqueFd> files_;
  std::vector<std::unique_ptr<MovedPages>> moves_;
};

INSTANTIATE_TEST_SUITE_P(Holds, MovingWithHold, ::testing::Values(WriteHold::wanted, WriteHold::of_user_code),
                         name_of);

TEST_P(MovingWithHold, given_a_thread_that_counts_in_memory_then_every_count_is_kept) {
  std::uint64_t counted = 0;
  move_while([&] {
    word(0).fetch_add(1, std::memory_order_relaxed);
    ++counted;
  });
  if (!IsSkipped()) {
    EXPECT_EQ(word(0).load(), counted);
  }
}

TEST_P(MovingWithHold, given_a_thread_that_sets_and_clears_a_flag_then_it_always_finds_what_it_wrote) {
  constexpr std::size_t last_word = pages_bytes / sizeof(std::uint64_t) - 1;
  std::uint64_t missed = 0;
  move_while([&] {
    for (const std::uint64_t value : {std::uint64_t{1}, std::uint64_t{0}}) {
      word(last_word).store(value, std::memory_order_relaxed);
      missed += word(last_word).load(std::memory_order_relaxed) != value ? 1 : 0;
    }
  });
  if (!IsSkipped()) {
    EXPECT_EQ(missed, 0U);
    EXPECT_EQ(word(last_word).load(), 0U);
  }
}

}  // namespace
}  // namespace datum
