// Device memory through aperture and window, and virtual addresses through the board's own page tables.
#include <algorithm>
#include <numeric>

#include <datum/hw/registers.hpp>

#include "tests/unit/tool/model_board.hpp"
#include "tools/datum/byte_text.hpp"
#include "tools/datum/memory_runs.hpp"
#include "tools/datum/page_walk.hpp"

namespace datum::test {

namespace {

std::vector<std::byte> counted(std::size_t bytes) {
  std::vector<std::byte> data(bytes);
  unsigned number = 0;
  for (std::byte& byte : data) {
    byte = static_cast<std::byte>(number++ * 7 + 1);
  }
  return data;
}

}  // namespace

class ToolMemory : public ModelBoard {
 protected:
  void SetUp() override {
    ModelBoard::SetUp();
    auto memory = tool::DeviceMemory::create(*board_);
    ASSERT_TRUE(memory);
    memory_ = std::make_unique<tool::DeviceMemory>(std::move(memory).value());
  }

  [[nodiscard]] std::vector<std::byte> read(DeviceAddress at, std::size_t bytes) {
    std::vector<std::byte> data(bytes);
    EXPECT_TRUE(memory_->read(at, data));
    return data;
  }

  void set_entry(std::uint64_t table, std::uint64_t index, hw::Pte entry) {
    ASSERT_TRUE(memory_->write({table + index * 8, 0}, std::as_bytes(std::span{&entry.raw, 1})));
  }

  /// Tables of space 1 at 64 KiB: virtual 0x40000000 (level 3 and 2: entry 0 and 1) has a table of level 1,
  /// whose entry 0 leads to a table of 4 KiB pages and entry 1 to a large page at 4 MiB.
  void map_space() {
    set_entry(root, 0, table_at(root + 0x1000));
    set_entry(root + 0x1000, 1, table_at(root + 0x2000));
    set_entry(root + 0x2000, 0, table_at(root + 0x3000));
    set_entry(root + 0x2000, 1, leaf_at(4U << 20U));
    set_entry(root + 0x3000, 0, leaf_at(0x200000).set_writable(true));
    set_entry(root + 0x3000, 1, leaf_at(0x201000));
    set_entry(root + 0x3000, 2, leaf_at(0x7000).set_ordinal(1));
    set_entry(root + 0x3000, 3, leaf_at(0x123000).set_host(true));
    board_->registers->write64(hw::space_root(1),
                               hw::SpaceRootRegister{}.set_valid(true).set_address_bytes(root).raw);
  }

  [[nodiscard]] Result<tool::WalkEnd> walk(std::uint64_t va, unsigned space = 1) {
    return tool::walk(*board_, *memory_, space, DeviceVa{va});
  }

  static hw::Pte table_at(std::uint64_t at) { return hw::Pte{}.set_valid(true).set_address_bytes(at); }

  static hw::Pte leaf_at(std::uint64_t at) { return table_at(at).set_leaf(true); }

  static constexpr std::uint64_t root = 64U << 10U;
  static constexpr std::uint64_t first_va = 1U << 30U;
  std::unique_ptr<tool::DeviceMemory> memory_;
};

TEST_F(ToolMemory, given_bytes_across_fixed_part_and_window_when_written_then_they_are_read_back) {
  const std::vector<std::byte> data = counted(300'000);
  constexpr DeviceAddress at{(1U << 20U) - 1001, 0};
  ASSERT_TRUE(memory_->write(at, data));
  EXPECT_EQ(read(at, data.size()), data);
  EXPECT_EQ(read(at + 5000, 3), (std::vector<std::byte>{data[5000], data[5001], data[5002]}));
}

TEST_F(ToolMemory, given_the_on_chip_memory_when_written_then_the_other_keeps_its_bytes) {
  const std::vector<std::byte> data = counted(100);
  ASSERT_TRUE(memory_->write({17, 1}, data));
  EXPECT_EQ(read({17, 1}, 100), data);
  EXPECT_EQ(read({17, 0}, 100), std::vector<std::byte>(100));
}

TEST_F(ToolMemory, given_a_moved_window_when_the_memory_is_done_with_then_it_is_where_it_was) {
  board_->registers->write64(hw::window_base, 0x5000);
  static_cast<void>(read({8U << 20U, 0}, 16));
  EXPECT_NE(board_->registers->read64(hw::window_base), 0x5000U);
  memory_.reset();
  EXPECT_EQ(board_->registers->read64(hw::window_base), 0x5000U);
}

TEST_F(ToolMemory, given_a_range_beyond_the_memory_when_read_then_it_is_refused_with_the_size) {
  std::vector<std::byte> data(16);
  for (const std::uint64_t at : {(32ULL << 20U) - 15, 32ULL << 20U, ~0ULL, ~0ULL - 15}) {
    const Status status = memory_->read({at, 0}, data);
    ASSERT_FALSE(status);
    EXPECT_EQ(status.error().code, ErrorCode::invalid_argument);
    EXPECT_NE(status.error().message.find("33554432"), std::string::npos);
  }
  EXPECT_FALSE(memory_->read({0, 2}, data));
}

TEST_F(ToolMemory, given_page_tables_when_walked_then_pages_of_each_kind_are_found) {
  map_space();
  const auto small = walk(first_va + 0x123);
  ASSERT_TRUE(small) << small.error().message;
  EXPECT_EQ(small->device, (DeviceAddress{0x200123, 0}));
  EXPECT_TRUE(small->writable);
  EXPECT_EQ(small->bytes, 4096U - 0x123);
  const auto large = walk(first_va + (2U << 20U) + 0x12345);
  ASSERT_TRUE(large);
  EXPECT_EQ(large->device, (DeviceAddress{(4U << 20U) + 0x12345, 0}));
  EXPECT_FALSE(large->writable);
  EXPECT_EQ(walk(first_va + 0x2000)->device, (DeviceAddress{0x7000, 1}));
  const auto host = walk(first_va + 0x3010);
  ASSERT_TRUE(host);
  EXPECT_TRUE(host->host);
  EXPECT_EQ(host->iova, Iova{0x123010});
}

TEST_F(ToolMemory, given_what_is_not_mapped_when_walked_then_the_sentence_says_where_it_ended) {
  map_space();
  EXPECT_NE(walk(first_va + 0x4000).error().message.find("level 0"), std::string::npos);
  EXPECT_NE(walk(0).error().message.find("level 2"), std::string::npos);
  EXPECT_EQ(walk(first_va, 2).error().code, ErrorCode::address_not_found);
  EXPECT_EQ(walk(first_va, 5000).error().code, ErrorCode::invalid_argument);
  EXPECT_EQ(walk(1ULL << 48U).error().code, ErrorCode::invalid_argument);
}

TEST_F(ToolMemory, given_tables_that_break_the_format_when_walked_then_they_are_refused) {
  map_space();
  set_entry(root + 0x3000, 0, table_at(0x200000));             // no leaf at level 0
  set_entry(root + 0x2000, 1, leaf_at((4U << 20U) + 0x1000));  // a large page that is not aligned
  set_entry(root, 5, leaf_at(0));                              // a leaf at level 3
  set_entry(root, 6, table_at(1ULL << 40U));                   // a table beyond the memory
  for (const std::uint64_t va : {std::uint64_t{first_va}, first_va + (std::uint64_t{2} << 20U),
                                 std::uint64_t{5} << 39U, std::uint64_t{6} << 39U}) {
    EXPECT_FALSE(walk(va)) << va;
  }
}

TEST_F(ToolMemory, given_a_virtual_range_when_runs_are_looked_for_then_neighbours_are_joined) {
  map_space();
  const auto runs = tool::find_runs(*board_, *memory_, {first_va + 0x800, 0, 1}, 0x2000);
  ASSERT_TRUE(runs) << runs.error().message;
  EXPECT_EQ(*runs, (std::vector<board::DeviceRange>{{{0x200800, 0}, 0x1800}, {{0x7000, 1}, 0x800}}));
  const auto host = tool::find_runs(*board_, *memory_, {first_va + 0x2800, 0, 1}, 0x1000);
  ASSERT_FALSE(host);
  EXPECT_NE(host.error().message.find("host memory"), std::string::npos);
}

TEST_F(ToolMemory, given_runs_when_written_and_read_then_the_bytes_follow_one_another) {
  const std::vector<std::byte> data = counted(3'000'000);
  const std::vector<board::DeviceRange> runs = {{{0x10000, 0}, 1'000'000}, {{0x400000, 0}, 2'000'000}};
  std::size_t given = 0;
  ASSERT_TRUE(tool::write_runs(*memory_, runs, [&](std::span<std::byte> piece) -> Status {
    std::copy_n(data.begin() + static_cast<std::ptrdiff_t>(given), piece.size(), piece.begin());
    given += piece.size();
    return {};
  }));
  std::vector<std::byte> got;
  ASSERT_TRUE(tool::read_runs(*memory_, runs, [&](std::span<const std::byte> piece) -> Status {
    got.insert(got.end(), piece.begin(), piece.end());
    return {};
  }));
  EXPECT_EQ(got, data);
}

TEST_F(ToolMemory, given_a_board_that_is_gone_when_memory_is_looked_for_then_it_is_lost) {
  function_->lose("the test took it away");
  const auto memory = tool::DeviceMemory::create(*board_);
  ASSERT_FALSE(memory);
  EXPECT_EQ(memory.error().code, ErrorCode::device_lost);
}

TEST(ToolBytes, given_sizes_when_parsed_then_suffixes_and_bases_count) {
  EXPECT_EQ(*tool::parse_size("4096"), 4096U);
  EXPECT_EQ(*tool::parse_size("0x1f"), 31U);
  EXPECT_EQ(*tool::parse_size("4K"), 4096U);
  EXPECT_EQ(*tool::parse_size("2G"), 2ULL << 30U);
  for (const char* text : {"", "K", "0x", "-1", "1.5", "4KK", "99999999999999999999", "99999999999G"}) {
    EXPECT_FALSE(tool::parse_size(text)) << text;
  }
}

TEST(ToolBytes, given_bytes_in_hexadecimal_when_parsed_then_they_keep_their_order) {
  EXPECT_EQ(tool::hex_bytes(*tool::parse_bytes("DEad 01")), "dead01");
  for (const char* text : {"", "d", "dea", "xy", "d e"}) {
    EXPECT_FALSE(tool::parse_bytes(text)) << text;
  }
}

TEST(ToolBytes, given_bytes_when_dumped_then_the_line_has_address_digits_and_letters) {
  const auto bytes = tool::parse_bytes("48656c6c6f00ff");
  EXPECT_EQ(tool::dump_line(0x1000, *bytes),
            "000000001000  48 65 6c 6c 6f 00 ff" + std::string(30, ' ') + "|Hello..|");
}

}  // namespace datum::test
