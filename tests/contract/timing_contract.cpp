// The timing of the memory, as software programs it. On RTL the DRAM device checks each rule by itself: a
// board that breaks one is lost.

#include <algorithm>
#include <array>
#include <random>

#include "tests/contract/contract_board.hpp"
#include "tests/support/pattern.hpp"

namespace datum::test {

namespace {

struct TimingField {
  unsigned word;
  unsigned lsb;
  unsigned width;
  std::uint32_t least;
  std::uint32_t most;
};

constexpr TimingField timing_fields[] = {
    {0, 0, 8, 2, 16},          // t_rcd
    {0, 8, 8, 2, 16},          // t_rp
    {0, 16, 8, 2, 24},         // t_ras
    {0, 24, 8, 2, 8},          // t_rrd_l
    {1, 0, 8, 2, 12},          // t_cl
    {1, 8, 8, 2, 8},           // t_ccd_l
    {1, 16, 8, 2, 16},         // t_wtr
    {1, 24, 8, 2, 16},         // t_rtw
    {2, 0, 16, 1024, 0xffff},  // t_refi
    {2, 16, 12, 32, 511},      // t_rfc
    {2, 28, 4, 2, 15},         // t_faw
    {3, 0, 8, 2, 24},          // t_wr
    {3, 8, 8, 2, 16},          // t_rtp
};

using TimingWords = std::array<std::uint32_t, 4>;

void set_field(TimingWords& words, const TimingField& field, std::uint32_t value) {
  const std::uint32_t mask = ((1U << field.width) - 1) << field.lsb;
  words[field.word] = (words[field.word] & ~mask) | (value << field.lsb);
}

}  // namespace

class TimingContract : public Contract {
 protected:
  static constexpr std::size_t area_bytes = 0x8000;

  TimingWords read_timing() {
    TimingWords words{};
    for (unsigned word = 0; word < words.size(); ++word) {
      words[word] = driver().registers().read32(hw::mc_timing0 + 4 * word);
    }
    return words;
  }

  void write_timing(const TimingWords& words) {
    for (unsigned word = 0; word < words.size(); ++word) {
      driver().registers().write32(hw::mc_timing0 + 4 * word, words[word]);
    }
  }

  hw::McTimingStatusRegister status() {
    return hw::McTimingStatusRegister{driver().registers().read32(hw::mc_timing_status)};
  }

  void use_memory(unsigned seed) {
    if (ring_ == nullptr) {
      host_ = driver().host(2 * area_bytes);
      driver().map_host(space, host_va, *host_);
      driver().map_device(space, device_va, driver().device_memory(2 * area_bytes), 2 * area_bytes);
      ring_ = std::make_unique<TestRing>(driver(), 0, 4, std::vector<unsigned>{space});
    }
    const auto odd = seed % 64;
    const auto bytes = area_bytes - 64;
    write_pattern(host_->data(), bytes, seed);
    ring_->push(copy_descriptor(space, host_va, space, device_va + odd, bytes));
    ring_->push(
        copy_descriptor(space, device_va + odd, space, device_va + area_bytes, bytes).set_flag_fence(true));
    const auto last =
        ring_->submit(copy_descriptor(space, device_va + area_bytes, space, host_va + area_bytes, bytes)
                          .set_flag_fence(true));
    ASSERT_TRUE(ring_->wait_for(last));
    ASSERT_EQ(ring_->record().status(), hw::Status::ok);
    ASSERT_TRUE(same_bytes(host_->data(), host_->data() + area_bytes, bytes));
  }

 private:
  std::unique_ptr<HostBuffer> host_;
  std::unique_ptr<TestRing> ring_;
};

DATUM_ON_EVERY_BOARD(TimingContract);

TEST_P(TimingContract, each_parameter_takes_its_bounds_and_refuses_what_is_beyond) {
  const auto before = read_timing();
  for (const auto& field : timing_fields) {
    auto& registers = driver().registers();
    const auto offset = hw::mc_timing0 + 4 * field.word;
    const auto write = [&](std::uint32_t value) {
      auto words = before;
      set_field(words, field, value);
      registers.write32(offset, words[field.word]);
      return registers.read32(offset) == words[field.word];
    };
    EXPECT_TRUE(write(field.least)) << field.word << " " << field.lsb;
    EXPECT_TRUE(write(field.most)) << field.word << " " << field.lsb;
    EXPECT_FALSE(status().refused());
    EXPECT_FALSE(write(field.least - 1)) << field.word << " " << field.lsb;
    EXPECT_TRUE(status().refused());
    registers.write32(hw::mc_timing_status, 1);
    EXPECT_FALSE(status().refused());
    if (field.most + 1 < 1U << field.width) {
      EXPECT_FALSE(write(field.most + 1)) << field.word << " " << field.lsb;
      EXPECT_TRUE(status().refused());
      registers.write32(hw::mc_timing_status, 1);
    }
    registers.write32(offset, before[field.word]);
  }
  EXPECT_EQ(read_timing(), before);
}

TEST_P(TimingContract, what_was_programmed_outlasts_a_reset) {
  auto words = read_timing();
  set_field(words, timing_fields[0], 9);
  write_timing(words);
  driver().registers().write32(hw::reset, 1);
  ASSERT_TRUE(driver().until([&] { return driver().registers().read32(hw::reset) == 0; }));
  EXPECT_EQ(read_timing(), words);
}

TEST_P(TimingContract, with_any_legal_timing_the_memory_holds_every_rule_and_every_byte) {
  std::mt19937 random(7);
  for (unsigned round = 0; round < 10; ++round) {
    TimingWords words{};
    for (const auto& field : timing_fields) {
      const auto most =
          std::min(field.most, field.least * 4);  // a long refresh interval would only take long
      const auto any = field.least + static_cast<std::uint32_t>(random()) % (most - field.least + 1);
      set_field(words, field, round == 0 ? field.least : round == 1 ? most : any);
    }
    write_timing(words);
    ASSERT_EQ(read_timing(), words);
    use_memory(round);  // while it comes into effect
    ASSERT_TRUE(driver().until([&] { return !status().pending(); }));
    use_memory(100 + round);
  }
  EXPECT_FALSE(status().refused());
}

}  // namespace datum::test
