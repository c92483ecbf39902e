// BARs: what is mapped, what goes through the kernel, and that both give the same bytes.
#include <algorithm>
#include <cstring>
#include <span>
#include <vector>

#include <datum/hw/registers.hpp>

#include "tests/unit/vfio/card_test.hpp"

namespace datum::test {

class Regions : public EitherInterface {
 protected:
  [[nodiscard]] std::uint64_t mapped_bytes(unsigned index) {
    return static_cast<vfio::RegionBar*>(*function_->bar(index))->mapped_bytes();
  }

  std::vector<std::byte> fill_memory() {
    std::vector<std::byte> bytes(RegisterCard::memory_bytes);
    for (std::size_t index = 0; index < bytes.size(); ++index) {
      bytes[index] = static_cast<std::byte>(index * 7 + (index >> 8U));
    }
    std::memcpy(card_->memory(), bytes.data(), bytes.size());
    return bytes;
  }
};

DATUM_THROUGH_EITHER(Regions);

TEST_P(Regions, registers_that_cannot_be_mapped_are_accessed_in_their_size) {
  open_it();
  card_->file_accesses.clear();
  EXPECT_EQ(registers().read32(0), hw::magic_value);
  registers().write64(RegisterCard::scratch, 0x0123456789abcdefULL);
  EXPECT_EQ(registers().read64(RegisterCard::scratch), 0x0123456789abcdefULL);
  EXPECT_EQ(registers().read32(RegisterCard::scratch + 4), 0x01234567U);
  EXPECT_EQ(card_->file_accesses, (std::vector<std::size_t>{4, 8, 8, 4}));
  EXPECT_EQ(mapped_bytes(0), 0U);
}

TEST_P(Regions, registers_that_can_be_mapped_cost_no_call) {
  plug({.registers_in_memory = true});
  open_it();
  const unsigned before = kernel_.calls();
  EXPECT_EQ(registers().read32(0), hw::magic_value);
  registers().write32(RegisterCard::scratch, 0xfeedf00dU);
  registers().write64(RegisterCard::scratch + 8, 5);
  EXPECT_EQ(registers().read32(RegisterCard::scratch), 0xfeedf00dU);
  EXPECT_EQ(registers().read64(RegisterCard::scratch + 8), 5U);
  EXPECT_EQ(kernel_.calls(), before);
  EXPECT_EQ(mapped_bytes(0), RegisterCard::register_bytes);
}

TEST_P(Regions, accesses_outside_of_a_bar_read_ones_and_write_nothing) {
  open_it();
  for (board::Bar* bar : {&registers(), &memory()}) {
    EXPECT_EQ(bar->read32(bar->size_bytes()), ~0U);
    EXPECT_EQ(bar->read64(bar->size_bytes() - 4), ~0ULL);
    EXPECT_EQ(bar->read32(~0ULL - 2), ~0U);
    bar->write32(bar->size_bytes(), 1);
    bar->write64(bar->size_bytes() - 4, 1);
    std::array<std::byte, 16> block{};
    bar->read_block(bar->size_bytes() - 8, block);
    EXPECT_EQ(block[0], std::byte{0xff});
    EXPECT_EQ(block[15], std::byte{0xff});
    bar->write_block(bar->size_bytes() - 8, block);
  }
  EXPECT_EQ(card_->memory()[RegisterCard::memory_bytes - 1], std::byte{0});
}

TEST_P(Regions, areas_in_any_order_are_mapped_and_gaps_go_through_the_kernel) {
  plug({.sparse = {{0x80000, 0x10000}, {0, 0x1000}, {0x2000, 0x1000}}});
  const auto bytes = fill_memory();
  open_it();
  EXPECT_EQ(mapped_bytes(2), 0x12000U);
  card_->file_accesses.clear();
  std::vector<std::byte> got(bytes.size());
  memory().read_block(0, got);
  EXPECT_EQ(got, bytes);
  EXPECT_EQ(card_->file_accesses, (std::vector<std::size_t>{0x1000, 0x80000 - 0x3000, 0x100000 - 0x90000}));
}

TEST_P(Regions, single_accesses_find_their_area) {
  plug({.sparse = {{0x3000, 0x1000}, {0x1000, 0x1000}}});
  open_it();
  card_->file_accesses.clear();
  std::uint64_t expected_file_accesses = 0;
  for (const std::uint64_t offset :
       {0x0ULL, 0xff8ULL, 0x1000ULL, 0x1ff8ULL, 0x2000ULL, 0x3000ULL, 0x3ff8ULL, 0x4000ULL}) {
    const bool mapped = (offset >= 0x1000 && offset < 0x2000) || (offset >= 0x3000 && offset < 0x4000);
    memory().write64(offset, offset * 3 + 1);
    EXPECT_EQ(memory().read64(offset), offset * 3 + 1) << offset;
    memory().write32(offset + 4, 0x55U);
    EXPECT_EQ(memory().read32(offset + 4), 0x55U);
    std::uint32_t in_card = 0;
    std::memcpy(&in_card, card_->memory() + offset, sizeof in_card);
    EXPECT_EQ(in_card, static_cast<std::uint32_t>(offset * 3 + 1));
    expected_file_accesses += mapped ? 0 : 4;
  }
  EXPECT_EQ(card_->file_accesses.size(), expected_file_accesses);
}

TEST_P(Regions, areas_that_overlap_end_late_or_are_crooked_are_cut) {
  plug({.sparse = {{0x1000, 0x3000},
                   {0x2000, 0x4000},
                   {0xff000, 0x9000},
                   {0x200000, 0x1000},
                   {0x10800, 0x1000},
                   {0x20000, 0}}});
  const auto bytes = fill_memory();
  open_it();
  EXPECT_EQ(mapped_bytes(2), 0x3000U + 0x2000U + 0x1000U);
  std::vector<std::byte> got(bytes.size());
  memory().read_block(0, got);
  EXPECT_EQ(got, bytes);
}

TEST_P(Regions, blocks_of_any_alignment_arrive_whole) {
  plug({.sparse = {{0x1000, 0x1000}}});
  const auto bytes = fill_memory();
  open_it();
  for (const std::uint64_t offset : {0x1000ULL, 0x1001ULL, 0xffdULL, 0x1ff9ULL, 0x1003ULL}) {
    for (const std::size_t length : {0U, 1U, 3U, 8U, 21U, 4100U}) {
      std::vector<std::byte> got(length);
      memory().read_block(offset, got);
      ASSERT_TRUE(std::ranges::equal(got, std::span{bytes}.subspan(offset, length)))
          << offset << " " << length;
      std::vector<std::byte> other(length, std::byte{0xa5});
      memory().write_block(offset, other);
      ASSERT_TRUE(std::ranges::equal(other, std::span{card_->memory() + offset, length}))
          << offset << " " << length;
      ASSERT_EQ(card_->memory()[offset + length], bytes[offset + length]);
      memory().write_block(offset, got);
    }
  }
  EXPECT_EQ(std::memcmp(card_->memory(), bytes.data(), bytes.size()), 0);
}

TEST_P(Regions, an_area_that_cannot_be_mapped_is_accessed_through_the_kernel) {
  plug({.memory_mapped = false});
  const auto bytes = fill_memory();
  open_it();
  EXPECT_EQ(mapped_bytes(2), 0U);
  std::vector<std::byte> got(0x3001);
  memory().read_block(0xffe, got);
  EXPECT_EQ(std::memcmp(got.data(), bytes.data() + 0xffe, got.size()), 0);
}

/// A card whose memory is smaller than a page, or not of whole pages.
class SmallCard final : public RegisterCard {
 public:
  explicit SmallCard(std::uint64_t bytes) : bytes_(bytes) {}

  [[nodiscard]] std::array<CardBar, 6> bars() const override {
    std::array<CardBar, 6> all = RegisterCard::bars();
    all[2].size_bytes = bytes_;
    return all;
  }

 private:
  std::uint64_t bytes_;
};

TEST_P(Regions, bars_smaller_than_a_page_or_not_of_whole_pages_are_accessed_whole) {
  for (const std::uint64_t bytes : {256U, 2048U, 16384U, 16640U}) {
    function_.reset();
    kernel_.machine.slots.clear();
    card_ = std::make_shared<SmallCard>(bytes);
    slot_ = &kernel_.plug(card_pci, card_group, card_);
    open_it();
    EXPECT_EQ(memory().size_bytes(), bytes);
    EXPECT_EQ(mapped_bytes(2), align_down(bytes, small_page_bytes)) << "the rest goes through the kernel";
    memory().write64(bytes - 8, bytes);
    EXPECT_EQ(memory().read64(bytes - 8), bytes);
    EXPECT_EQ(memory().read32(bytes), ~0U);
    std::uint64_t in_card = 0;
    std::memcpy(&in_card, card_->memory() + bytes - 8, sizeof in_card);
    EXPECT_EQ(in_card, bytes);
  }
}

TEST_P(Regions, bars_that_do_not_exist_or_belong_to_the_kernel_are_not_available) {
  open_it();
  for (const unsigned index : {1U, 3U, 5U, 6U, ~0U}) {
    const auto bar = function_->bar(index);
    ASSERT_FALSE(bar) << index;
    EXPECT_EQ(bar.error().code, ErrorCode::not_available);
  }
  const auto table = function_->bar(4);
  ASSERT_FALSE(table);
  EXPECT_TRUE(has(table.error().message, "interrupt table"));
  EXPECT_EQ(*function_->bar(0), *function_->bar(0));
}

}  // namespace datum::test
