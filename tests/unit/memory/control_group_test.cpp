// Limits of control groups, in folders that look like the kernel's.
#include <filesystem>
#include <fstream>
#include <string>
#include <sys/stat.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "driver/memory/control_group.hpp"
#include "driver/memory/dma_map.hpp"
#include "driver/memory/host_pool.hpp"
#include "tests/unit/memory/model_board.hpp"
#include "tests/unit/memory/sizes.hpp"

namespace datum {
namespace {

class ControlGroup : public ::testing::Test {
 protected:
  void SetUp() override {
    std::string name = ::testing::TempDir() + "/datum-control-group-XXXXXX";
    ASSERT_NE(nullptr, ::mkdtemp(name.data()));
    root_ = name;
    write("system", "MemTotal: 8000 kB\nSwapTotal: 0 kB\nSwapFree: 0 kB\n");
  }

  void TearDown() override {
    control_groups().use(nullptr);
    std::filesystem::remove_all(root_);
  }

  void write(const std::string& path, const std::string& content) const {
    const std::filesystem::path file = root_ / path;
    std::filesystem::create_directories(file.parent_path());
    std::ofstream(file) << content;
  }

  void group(const std::string& path, const std::string& limit, std::uint64_t used,
             std::uint64_t file_cache = 0) const {
    write(path + "/memory.max", limit + "\n");
    write(path + "/memory.current", std::to_string(used) + "\n");
    write(path + "/memory.stat", "anon 1\ninactive_file " + std::to_string(file_cache) + "\nactive_file 0\n");
  }

  [[nodiscard]] ControlGroupFiles files() const {
    return {root_ / "membership", root_ / "groups", root_ / "system"};
  }

  [[nodiscard]] std::optional<GroupRoom> room() const { return control_group_room(files()); }

  std::filesystem::path root_;
};

TEST_F(ControlGroup, given_no_files_or_no_limits_then_there_is_nothing_to_keep_to) {
  EXPECT_FALSE(room().has_value());
  write("membership", "0::/app\n");
  EXPECT_FALSE(room().has_value());
  group("groups/app", "max", 100 * mib);
  EXPECT_FALSE(room().has_value());
  write("membership", "nonsense\n:\n\n");
  EXPECT_FALSE(room().has_value());
}

TEST_F(ControlGroup, given_a_limit_then_what_is_used_counts_and_file_pages_do_not) {
  write("membership", "0::/app\n");
  group("groups/app", std::to_string(512 * mib), 300 * mib, 100 * mib);
  ASSERT_TRUE(room().has_value());
  EXPECT_EQ(312 * mib, room()->bytes);
  EXPECT_EQ(512 * mib, room()->limit_bytes);
  EXPECT_EQ((root_ / "groups/app/memory.max").string(), room()->setting);
  group("groups/app", std::to_string(512 * mib), 600 * mib);
  EXPECT_EQ(0U, room()->bytes);
}

TEST_F(ControlGroup, given_groups_above_then_the_tightest_counts) {
  write("membership", "1:cpu:/else\n0::/outer/inner/app\n");
  group("groups/outer/inner/app", std::to_string(512 * mib), 0);
  group("groups/outer/inner", std::to_string(100 * mib), 10 * mib);
  group("groups/outer", "max", 0);
  group("groups", std::to_string(400 * mib), 0);
  EXPECT_EQ(90 * mib, room()->bytes);
  group("groups", std::to_string(50 * mib), 0);
  EXPECT_EQ(50 * mib, room()->bytes);
}

TEST_F(ControlGroup, given_swap_then_as_much_of_it_counts_as_system_and_group_allow) {
  write("membership", "0::/app\n");
  group("groups/app", std::to_string(100 * mib), 0);
  write("system", "MemTotal: 8000 kB\nSwapFree: " + std::to_string(20 * 1024) + " kB\n");
  EXPECT_EQ(120 * mib, room()->bytes);
  write("groups/app/memory.swap.max", std::to_string(8 * mib) + "\n");
  write("groups/app/memory.swap.current", std::to_string(3 * mib) + "\n");
  EXPECT_EQ(105 * mib, room()->bytes);
  write("groups/app/memory.swap.max", "0\n");
  EXPECT_EQ(100 * mib, room()->bytes);
}

TEST_F(ControlGroup, given_groups_of_version_1_then_their_limit_counts_too) {
  write("membership", "9:name=systemd:/\n4:cpu,memory:/app\n0::/\n");
  write("groups/memory/app/memory.limit_in_bytes", std::to_string(64 * mib) + "\n");
  write("groups/memory/app/memory.usage_in_bytes", std::to_string(30 * mib) + "\n");
  write("groups/memory/app/memory.stat", "inactive_file 7\ntotal_inactive_file " + std::to_string(10 * mib) +
                                             "\ntotal_active_file " + std::to_string(2 * mib) + "\n");
  EXPECT_EQ(46 * mib, room()->bytes);
  write("groups/memory/app/memory.limit_in_bytes", "9223372036854771712\n");
  EXPECT_FALSE(room().has_value());
}

TEST_F(ControlGroup, given_a_container_that_shows_its_own_group_only_then_its_limit_counts) {
  write("membership", "4:memory:/docker/0123456789\n");
  write("groups/memory/memory.limit_in_bytes", std::to_string(64 * mib) + "\n");
  write("groups/memory/memory.usage_in_bytes", "0\n");
  EXPECT_EQ(64 * mib, room()->bytes);
}

class HostMemoryInGroup : public ControlGroup {
 protected:
  void SetUp() override {
    ControlGroup::SetUp();
    write("membership", "0::/app\n");
    files_ = files();
    control_groups().use(&files_);
  }

  Result<HostPages> take(std::uint64_t bytes) {
    DmaMap* const maps[] = {&dma_};
    return pool_.take(bytes, 1, maps);
  }

  /// What the kernel has given of large memory, whose file the pool keeps.
  static std::uint64_t given_bytes(const HostPages& pages) {
    struct stat status {};

    EXPECT_EQ(0, ::fstat(pages.piece->file(), &status));
    return static_cast<std::uint64_t>(status.st_blocks) * 512;
  }

  ControlGroupFiles files_;
  std::unique_ptr<Board> board_ = test::open_model("memory=16M");
  DmaMap dma_{board_->function()};
  std::unique_ptr<AddressWindow> window_ = std::move(*AddressWindow::reserve());
  HostPool pool_{*window_};
};

TEST_F(HostMemoryInGroup, given_too_little_room_then_host_memory_is_refused_with_limit_and_cure) {
  group("groups/app", std::to_string(100 * mib), 50 * mib);
  for (const std::uint64_t bytes : {47 * mib, 64 * mib, 5000 * mib}) {
    const Result<HostPages> refused = take(bytes);
    ASSERT_FALSE(refused.ok()) << bytes;
    EXPECT_EQ(ErrorCode::out_of_host_memory, refused.error().code);
    EXPECT_NE(std::string::npos, refused.error().message.find(std::to_string(100 * mib)))
        << refused.error().message;
    EXPECT_NE(std::string::npos, refused.error().hint.find("groups/app/memory.max")) << refused.error().hint;
  }
  const Result<HostPages> fits = take(8 * mib);
  ASSERT_TRUE(fits.ok()) << fits.error().message;
  pool_.release(*fits);
}

TEST_F(HostMemoryInGroup, given_a_limit_then_memory_is_there_before_it_is_touched) {
  group("groups/app", std::to_string(100 * mib), 0);
  const HostPages pages = *take(8 * mib);
  EXPECT_EQ(8 * mib, given_bytes(pages));
  pool_.release(pages);
}

TEST_F(HostMemoryInGroup,
       given_small_memory_in_a_full_group_then_it_is_refused_and_works_after_there_is_room) {
  group("groups/app", std::to_string(100 * mib), 100 * mib);
  EXPECT_EQ(ErrorCode::out_of_host_memory, take(4096).error().code);
  group("groups/app", std::to_string(100 * mib), 20 * mib);
  const Result<HostPages> pages = take(4096);
  ASSERT_TRUE(pages.ok()) << pages.error().message;
  pool_.release(*pages);
}

TEST_F(HostMemoryInGroup, given_a_limit_that_is_set_later_then_it_is_seen_before_much_more_is_taken) {
  group("groups/app", "max", 0);
  std::vector<HostPages> taken{*take(16 * mib)};
  EXPECT_EQ(0U, given_bytes(taken.front())) << "without a limit the kernel gives what is touched";
  group("groups/app", std::to_string(100 * mib), 100 * mib);
  for (int round = 0; round < 5; ++round) {
    if (Result<HostPages> more = take(16 * mib); more.ok()) {
      taken.push_back(*more);
    }
  }
  EXPECT_LE(taken.size(), 4U) << "64 MiB at most go unseen";
  for (const HostPages& pages : taken) {
    pool_.release(pages);
  }
}

}  // namespace
}  // namespace datum
