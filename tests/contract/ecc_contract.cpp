// Error correction: one wrong bit is corrected, for the reader and in the memory; two fail whoever reads
// them; nothing goes unsaid.

#include <algorithm>
#include <array>
#include <vector>

#include "tests/contract/contract_board.hpp"
#include "tests/support/pattern.hpp"

namespace datum::test {

class EccContract : public Contract {
 protected:
  static constexpr std::uint64_t value = 0x0123'4567'89ab'cdef;
  static constexpr std::uint64_t area_bytes = 0x4000;
  static constexpr std::uint64_t column_bytes = 64;

  void SetUp() override {
    area_ = driver().device_memory(area_bytes);
    word_ = area_ + 0x1048;
    slide_window();
    write_word(word_, value);
  }

  /// The board of a server and a card keep their memory, and with it what is wrong there, for the next test.
  void TearDown() override {
    for (const std::uint64_t address : injected_) {
      registers().write64(hw::window_base,
                          hw::WindowBaseRegister{}.set_address_bytes(address & ~0xfffULL).raw);
      driver().aperture().write64(window_ + (address & 0xff8U), 0);
    }
  }

  board::Bar& registers() { return driver().registers(); }

  /// The fixed part of the aperture may be mapped past the memory controller; the window never is.
  void slide_window() {
    registers().write64(hw::window_base, hw::WindowBaseRegister{}.set_address_bytes(area_).raw);
    window_ = registers().read64(hw::aperture_fixed_bytes);
  }

  std::uint64_t read_word(std::uint64_t address) {
    return driver().aperture().read64(window_ + (address - area_));
  }

  void write_word(std::uint64_t address, std::uint64_t word) {
    driver().aperture().write64(window_ + (address - area_), word);
  }

  void write_half(std::uint64_t address, std::uint32_t half) {
    driver().aperture().write32(window_ + (address - area_), half);
  }

  void inject(std::uint64_t address, std::uint64_t data, unsigned check = 0) {
    if (address < registers().read64(hw::memory_bytes)) {
      injected_.push_back(address);
    }
    registers().write64(hw::inject_address, address);
    registers().write64(hw::inject_data, data);
    registers().write32(hw::inject_check, check);
    registers().write32(hw::inject_command, 1);
    ASSERT_TRUE(driver().until([&] { return registers().read32(hw::inject_command) == 0; }));
  }

  /// Bit 64 and above are check bits.
  void inject_bits(std::uint64_t address, std::initializer_list<unsigned> bits) {
    std::uint64_t data = 0;
    unsigned check = 0;
    for (const auto bit : bits) {
      if (bit < 64) {
        data |= 1ULL << bit;
      } else {
        check |= 1U << (bit - 64);
      }
    }
    inject(address, data, check);
  }

  void clear_errors() {
    registers().write32(hw::ecc_clear, hw::EccClearRegister{}.set_counts(true).set_logs(true).raw);
  }

  std::uint64_t corrected() { return registers().read64(hw::ecc_corrected_count); }

  std::uint64_t uncorrected() { return registers().read64(hw::ecc_uncorrected_count); }

  void expect_counts(std::uint64_t right_again, std::uint64_t lost) {
    ASSERT_TRUE(driver().until_quiescent());
    EXPECT_EQ(corrected(), right_again);
    EXPECT_EQ(uncorrected(), lost);
  }

  /// By the mapping of the board contract.
  static unsigned bank_of(std::uint64_t address) {
    const auto row = address >> 17U;
    const auto fold = row ^ (row >> 4U) ^ (row >> 8U) ^ (row >> 12U);
    const auto plain = ((address >> 15U) & 3U) << 2U | ((address >> 6U) & 3U);
    return static_cast<unsigned>((plain ^ fold) & 0xfU);
  }

  /// By definition of the code.
  static unsigned column_of_bit(unsigned bit) {
    if (bit >= 64) {
      return 1U << (bit - 64);
    }
    const unsigned low = bit == 0 ? 0x3fU : 0x40U + bit;
    unsigned parity = 1;
    for (unsigned shift = 0; shift < 7; ++shift) {
      parity ^= (low >> shift) & 1U;
    }
    return low | (parity << 7U);
  }

  std::uint64_t area_ = 0;
  std::uint64_t word_ = 0;
  std::uint64_t window_ = 0;  // offset of the window in the aperture
  std::vector<std::uint64_t> injected_;
};

DATUM_ON_EVERY_BOARD(EccContract);

TEST_P(EccContract, the_board_says_that_its_memory_is_protected) {
  EXPECT_TRUE(hw::McStatusRegister{registers().read32(hw::mc_status)}.ecc());
  expect_counts(0, 0);
}

TEST_P(EccContract, any_one_wrong_bit_is_corrected_once_and_then_right_in_the_memory) {
  for (unsigned bit = 0; bit < 72; ++bit) {
    inject_bits(word_, {bit});
    clear_errors();
    EXPECT_EQ(read_word(word_), value) << bit;
    expect_counts(1, 0);
    EXPECT_EQ(read_word(word_), value) << bit;
    expect_counts(1, 0);
    const hw::EccCorrectedInfoRegister info{registers().read32(hw::ecc_corrected_info)};
    EXPECT_TRUE(info.valid());
    EXPECT_FALSE(info.scrub());
    EXPECT_EQ(info.syndrome(), column_of_bit(bit)) << bit;
    EXPECT_EQ(info.bank(), bank_of(word_));
    EXPECT_EQ(registers().read64(hw::ecc_corrected_address), word_);
    EXPECT_EQ(registers().read32(hw::ecc_uncorrected_info), 0U);
  }
}

TEST_P(EccContract, two_wrong_bits_are_never_taken_for_data) {
  for (unsigned first = 0; first < 72; first += 5) {
    const unsigned second = (first * 7 + 13) % 72;
    inject_bits(word_, {first, second});
    clear_errors();
    EXPECT_EQ(read_word(word_), ~0ULL) << first << " " << second;
    expect_counts(0, 1);
    const hw::EccUncorrectedInfoRegister info{registers().read32(hw::ecc_uncorrected_info)};
    EXPECT_TRUE(info.valid());
    EXPECT_EQ(info.syndrome(), column_of_bit(first) ^ column_of_bit(second));
    EXPECT_EQ(info.bank(), bank_of(word_));
    EXPECT_EQ(registers().read64(hw::ecc_uncorrected_address), word_);
    EXPECT_EQ(registers().read32(hw::ecc_corrected_info), 0U);
    write_word(word_, value);
    EXPECT_EQ(read_word(word_), value) << "a word that is written whole is right again";
  }
}

TEST_P(EccContract, a_lost_word_takes_its_column_of_64_bytes_with_it_and_no_other) {
  const auto column = word_ - word_ % column_bytes;
  write_word(column - 8, 1);
  write_word(column + column_bytes, 2);
  inject_bits(word_, {3, 4});
  EXPECT_EQ(read_word(column), ~0ULL);
  EXPECT_EQ(read_word(column + column_bytes - 8), ~0ULL);
  EXPECT_EQ(read_word(column - 8), 1U);
  EXPECT_EQ(read_word(column + column_bytes), 2U);
}

TEST_P(EccContract, an_injection_leaves_only_its_own_word_wrong) {
  const auto column = word_ - word_ % column_bytes;
  for (std::uint64_t word = 0; word < 8; ++word) {
    write_word(column + 8 * word, value + word);
  }
  for (std::uint64_t word = 0; word < 8; ++word) {
    inject_bits(column + 8 * word, {static_cast<unsigned>(9 * word)});
  }
  // Each injection read the column and wrote back what was wrong: only the last word still is.
  clear_errors();
  for (std::uint64_t word = 0; word < 8; ++word) {
    EXPECT_EQ(read_word(column + 8 * word), value + word);
    ASSERT_TRUE(driver().until_quiescent());
  }
  expect_counts(1, 0);
}

TEST_P(EccContract, a_write_of_part_of_a_word_keeps_the_rest_right) {
  inject_bits(word_, {7});
  clear_errors();
  write_half(word_ + 4, 0x1111'2222);
  expect_counts(1, 0);
  EXPECT_EQ(read_word(word_), 0x1111'2222'89ab'cdefULL);
  expect_counts(1, 0);
}

TEST_P(EccContract, a_write_of_part_of_a_lost_word_does_not_make_it_look_right) {
  inject_bits(word_, {7, 60});
  clear_errors();
  write_half(word_ + 4, 0x1111'2222);
  expect_counts(0, 1);
  EXPECT_EQ(read_word(word_), ~0ULL);
  expect_counts(0, 2);
  write_word(word_, 5);
  EXPECT_EQ(read_word(word_), 5U);
}

TEST_P(EccContract, the_counts_and_the_logs_are_forgotten_apart) {
  inject_bits(word_, {1});
  EXPECT_EQ(read_word(word_), value);
  expect_counts(1, 0);
  registers().write32(hw::ecc_clear, hw::EccClearRegister{}.set_counts(true).raw);
  expect_counts(0, 0);
  EXPECT_EQ(registers().read64(hw::ecc_corrected_address), word_);
  inject_bits(area_, {2});
  EXPECT_EQ(read_word(area_), 0U);
  expect_counts(1, 0);
  EXPECT_EQ(registers().read64(hw::ecc_corrected_address), word_) << "the log keeps the first error";
  registers().write32(hw::ecc_clear, hw::EccClearRegister{}.set_logs(true).raw);
  EXPECT_EQ(registers().read32(hw::ecc_corrected_info), 0U);
  EXPECT_EQ(registers().read64(hw::ecc_corrected_address), 0U);
  EXPECT_EQ(corrected(), 1U);
}

TEST_P(EccContract, the_first_error_of_each_kind_raises_the_vector_of_the_memory_controller) {
  const auto vector = function().info().vectors - 1;
  const auto expect_raised = [&] {
    const auto clock = function().clock();
    const auto outcome = function().wait(vector, -1, clock.now_ns + 1'000'000'000ULL * clock.wait_scale);
    ASSERT_TRUE(outcome);
    EXPECT_EQ(*outcome, board::WaitOutcome::interrupt);
    EXPECT_TRUE(hw::InterruptGlobalRegister{registers().read32(hw::interrupt_global)}.memory());
    registers().write32(hw::interrupt_global, ~0U);
  };
  const auto raised = [&] {
    EXPECT_TRUE(driver().until_quiescent());
    return hw::InterruptGlobalRegister{registers().read32(hw::interrupt_global)}.memory();
  };
  EXPECT_FALSE(raised());
  inject_bits(word_, {1});
  static_cast<void>(read_word(word_));
  expect_raised();
  inject_bits(word_, {2});
  static_cast<void>(read_word(word_));
  EXPECT_FALSE(raised()) << "its log is full";
  inject_bits(word_, {2, 3});
  static_cast<void>(read_word(word_));
  expect_raised();
  registers().write32(hw::ecc_clear, hw::EccClearRegister{}.set_logs(true).raw);
  static_cast<void>(read_word(word_));
  expect_raised();
}

TEST_P(EccContract, errors_stay_in_the_memory_over_a_reset_and_counts_do_not) {
  inject_bits(word_, {1});
  EXPECT_EQ(read_word(word_), value);
  expect_counts(1, 0);
  inject_bits(word_, {2});
  registers().write32(hw::reset, 1);
  ASSERT_TRUE(driver().until([&] { return registers().read32(hw::reset) == 0; }));
  expect_counts(0, 0);
  EXPECT_EQ(registers().read32(hw::ecc_corrected_info), 0U);
  slide_window();
  EXPECT_EQ(read_word(word_), value);
  expect_counts(1, 0);
}

TEST_P(EccContract, an_injection_beyond_the_memory_does_nothing) {
  inject_bits(registers().read64(hw::memory_bytes), {1});
  expect_counts(0, 0);
  EXPECT_EQ(read_word(word_), value);
}

class EccScrub : public EccContract {
 protected:
  void scrub(std::uint64_t first, std::uint64_t bytes) {
    registers().write64(hw::scrub_position, first);
    registers().write64(hw::scrub_remaining, bytes);
    ASSERT_TRUE(driver().until([&] { return registers().read64(hw::scrub_remaining) == 0; }));
    ASSERT_TRUE(driver().until_quiescent());
  }
};

DATUM_ON_EVERY_BOARD(EccScrub);

TEST_P(EccScrub, a_scrub_finds_what_nobody_has_read_and_repairs_what_can_be) {
  const auto lost = area_ + 0x2ff8;
  for (const auto word : {area_, word_, area_ + 0x2000}) {
    inject_bits(word, {11});
  }
  inject_bits(lost, {11, 12});
  clear_errors();
  scrub(area_, area_bytes);
  expect_counts(3, 1);
  EXPECT_EQ(registers().read64(hw::scrub_position), area_ + area_bytes);
  EXPECT_TRUE(hw::EccCorrectedInfoRegister{registers().read32(hw::ecc_corrected_info)}.scrub());
  const hw::EccUncorrectedInfoRegister info{registers().read32(hw::ecc_uncorrected_info)};
  EXPECT_TRUE(info.scrub());
  EXPECT_EQ(registers().read64(hw::ecc_uncorrected_address), lost);
  EXPECT_EQ(read_word(word_), value);
  expect_counts(3, 1);
  EXPECT_EQ(read_word(lost), ~0ULL) << "what is lost stays lost";
}

TEST_P(EccScrub, a_scrub_of_one_column_leaves_its_neighbours_alone) {
  const auto column = word_ - word_ % column_bytes;
  inject_bits(column - 8, {1});
  inject_bits(column + column_bytes, {1});
  clear_errors();
  scrub(column, column_bytes);
  expect_counts(0, 0);
}

TEST_P(EccScrub, the_scrubber_goes_round_at_the_end_of_the_memory) {
  inject_bits(area_, {5});
  clear_errors();
  const auto end = registers().read64(hw::memory_bytes);
  scrub(end - 2 * column_bytes, 2 * column_bytes + area_ + column_bytes);
  expect_counts(1, 0);
  EXPECT_EQ(registers().read64(hw::scrub_position), area_ + column_bytes);
}

TEST_P(EccScrub, with_an_interval_the_scrubber_goes_on_by_itself) {
  inject_bits(word_, {5});
  clear_errors();
  registers().write64(hw::scrub_position, word_ - word_ % column_bytes - 2 * column_bytes);
  registers().write32(hw::scrub_interval, 16);
  EXPECT_TRUE(driver().until([&] { return corrected() == 1; }));
  registers().write32(hw::scrub_interval, 0);
  ASSERT_TRUE(driver().until_quiescent());
  const auto position = registers().read64(hw::scrub_position);
  EXPECT_GT(position, word_);
  for (unsigned poll = 0; poll < 10; ++poll) {
    EXPECT_EQ(registers().read64(hw::scrub_position), position) << "without an interval it stands still";
  }
  EXPECT_EQ(read_word(word_), value);
  expect_counts(1, 0);
}

class EccDescriptor : public EccContract {
 protected:
  void SetUp() override {
    EccContract::SetUp();
    host_ = driver().host(area_bytes);
    driver().map_host(space, host_va, *host_);
    driver().map_device(space, device_va, area_, area_bytes);
    ring_ = std::make_unique<TestRing>(driver(), 6, 8, std::vector<unsigned>{space});
  }

  void TearDown() override {
    ring_.reset();
    host_.reset();
    EccContract::TearDown();
  }

  void expect_fault(hw::Descriptor descriptor, hw::Status status, hw::FaultReason reason,
                    std::uint64_t address) {
    const auto sequence = ring_->submit(descriptor);
    ASSERT_TRUE(ring_->wait_for_state(hw::RingState::faulted));
    EXPECT_EQ(ring_->record().sequence(), sequence);
    EXPECT_EQ(ring_->record().status(), status) << name_of(ring_->record().status());
    EXPECT_EQ(ring_->record().reason(), reason) << name_of(ring_->record().reason());
    EXPECT_EQ(ring_->record().fault_address(), address) << std::hex << ring_->record().fault_address();
    ring_->disable();
    ring_->enable();
  }

  void expect_done(hw::Descriptor descriptor) {
    ASSERT_TRUE(ring_->wait_for(ring_->submit(descriptor)));
    EXPECT_EQ(ring_->record().status(), hw::Status::ok) << name_of(ring_->record().reason());
  }

  /// Address of the last-level entry of a page.
  std::uint64_t entry_address(std::uint64_t va) {
    std::uint64_t table = hw::SpaceRootRegister{registers().read64(hw::space_root(space))}.address_bytes();
    for (unsigned level = 3; level != 0; --level) {
      const auto index = (va >> (12U + 9U * level)) & 0x1ffU;
      table = hw::Pte{driver().aperture().read64(table + 8 * index)}.address_bytes();
    }
    return table + 8 * ((va >> 12U) & 0x1ffU);
  }

  std::unique_ptr<HostBuffer> host_;
  std::unique_ptr<TestRing> ring_;
};

DATUM_ON_EVERY_BOARD(EccDescriptor);

TEST_P(EccDescriptor, a_copy_over_single_errors_moves_the_right_bytes_and_repairs_them) {
  const auto bytes = pattern(area_bytes, 5);
  driver().write_device(area_, std::as_bytes(std::span{bytes}));
  for (unsigned word = 0; word < 16; ++word) {
    inject_bits(area_ + word * 0x3f8ULL, {(word * 5) % 72});
  }
  clear_errors();
  expect_done(copy_descriptor(space, device_va, space, host_va, area_bytes));
  EXPECT_TRUE(same_bytes(bytes.data(), host_->data(), area_bytes));
  expect_counts(16, 0);
}

TEST_P(EccDescriptor, a_copy_that_reads_a_lost_word_fails_at_its_column) {
  inject_bits(area_ + 0x850, {20, 21});
  expect_fault(copy_descriptor(space, device_va, space, host_va, area_bytes), hw::Status::memory,
               hw::FaultReason::uncorrectable, device_va + 0x840);
  expect_fault(copy_descriptor(space, device_va + 0x84f, space, host_va, 1), hw::Status::memory,
               hw::FaultReason::uncorrectable, device_va + 0x84f);
  expect_fault(copy_descriptor(space, device_va + 0x7f1, space, device_va + 0x2003, 200), hw::Status::memory,
               hw::FaultReason::uncorrectable, device_va + 0x840);
  expect_fault(wait_descriptor(space, device_va + 0x850, hw::WaitCondition::equal, 0), hw::Status::memory,
               hw::FaultReason::uncorrectable, device_va + 0x850);
  expect_done(copy_descriptor(space, device_va + 0x880, space, host_va, 0x100));
  ASSERT_TRUE(driver().until_quiescent());
  EXPECT_GE(uncorrected(), 4U);
  EXPECT_EQ(registers().read64(hw::ecc_uncorrected_address), area_ + 0x850);
}

TEST_P(EccDescriptor, whole_words_that_are_written_are_right_again) {
  inject_bits(area_ + 0x850, {20, 21});
  expect_done(fill_descriptor(space, device_va + 0x850, 8, 0, 0x33));
  expect_done(copy_descriptor(space, device_va + 0x840, space, host_va, 64));
  EXPECT_EQ(host_->word(0x10), 0x3333'3333'3333'3333ULL);
  inject_bits(area_ + 0x850, {20, 21});
  expect_done(fill_descriptor(space, device_va + 0x801, 0x100, 0, 0x44));
  expect_done(copy_descriptor(space, device_va + 0x840, space, host_va, 64));
  EXPECT_EQ(host_->word(0x10), 0x4444'4444'4444'4444ULL);
}

TEST_P(EccDescriptor, bytes_of_one_word_that_two_rings_write_at_once_all_arrive) {
  TestRing other(driver(), 7, 8, {space});
  constexpr unsigned words = 100;
  std::array<TestRing*, 2> rings{ring_.get(), &other};
  std::array<std::uint32_t, 2> last{};
  for (unsigned word = 0; word < words; ++word) {
    for (unsigned half = 0; half < 2; ++half) {
      last[half] = rings[half]->push(
          write_value_descriptor(space, device_va + 8 * word + 4 * half, 0x100 * word + half, 2)
              .set_flag_complete(word + 1 == words));
    }
  }
  for (auto* ring : rings) {
    ring->ring_doorbell();
  }
  for (unsigned half = 0; half < 2; ++half) {
    ASSERT_TRUE(rings[half]->wait_for(last[half]));
  }
  for (std::uint64_t word = 0; word < words; ++word) {
    EXPECT_EQ(read_word(area_ + 8 * word), ((0x100 * word + 1) << 32U) | (0x100 * word)) << word;
  }
  expect_counts(0, 0);
}

TEST_P(EccDescriptor, a_lost_page_table_entry_refuses_its_page_and_its_line_only) {
  expect_done(fill_descriptor(space, device_va, area_bytes, 0, 0x11));
  driver().map_device(space, device_va + 0x8000, area_, area_bytes);  // entries in the next line of the table
  inject_bits(entry_address(device_va), {2, 50});
  ASSERT_TRUE(driver().invalidate(space));
  expect_done(fill_descriptor(space, device_va + 0x8000, 64, 0, 0x22));
  expect_fault(fill_descriptor(space, device_va, 64, 0, 0x33), hw::Status::mmu, hw::FaultReason::table_read,
               device_va);
}

}  // namespace datum::test
