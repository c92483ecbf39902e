// The DRAM device: cells, read latency, and that it notices each broken rule.

#include <cstring>

#include <gtest/gtest.h>

#include "sim/memory/secded.hpp"
#include "sim/rtl/dram_device.hpp"
#include "tests/unit/sim/undriven_board.hpp"

namespace datum::sim {
namespace {

constexpr unsigned t_rcd = 5;
constexpr unsigned t_rp = 5;
constexpr unsigned t_ras = 10;
constexpr unsigned t_rrd_l = 2;
constexpr unsigned t_cl = 5;
constexpr unsigned t_ccd_l = 2;
constexpr unsigned t_wtr = 7;
constexpr unsigned t_rtw = 3;
constexpr unsigned t_refi = 2340;
constexpr unsigned t_rfc = 105;
constexpr unsigned t_faw = 9;
constexpr unsigned t_wr = 9;
constexpr unsigned t_rtp = 3;

class DramDeviceTest : public ::testing::Test {
 protected:
  DramDeviceTest()
      : array_(std::move(DramArray::create(1ULL << 30U)).value()), device_(board_.pins(), array_) {
    device_.power_on();
    auto& timing = timing_;
    timing.row.set_t_rcd(t_rcd).set_t_rp(t_rp).set_t_ras(t_ras).set_t_rrd_l(t_rrd_l);
    timing.column.set_t_cl(t_cl).set_t_ccd_l(t_ccd_l).set_t_wtr(t_wtr).set_t_rtw(t_rtw);
    timing.refresh.set_t_refi(t_refi).set_t_rfc(t_rfc).set_t_faw(t_faw);
    timing.recovery.set_t_wr(t_wr).set_t_rtp(t_rtp);
    device_.set_timing(timing);
  }

  /// One cycle with the commands that were set since the last.
  void tick() {
    device_.drive(now_);
    device_.sample(now_);
    ++now_;
    auto& pins = board_.pins();
    pins.dram_act_valid_o = pins.dram_pre_valid_o = pins.dram_ref_valid_o = pins.dram_cas_valid_o = 0;
  }

  void idle(unsigned cycles) {
    for (unsigned count = 0; count < cycles; ++count) {
      tick();
    }
  }

  void activate(unsigned bank, unsigned row) {
    auto& pins = board_.pins();
    pins.dram_act_valid_o = 1;
    pins.dram_act_bank_o = static_cast<CData>(bank);
    pins.dram_act_row_o = row;
    tick();
  }

  void precharge(unsigned bank, bool all = false) {
    auto& pins = board_.pins();
    pins.dram_pre_valid_o = 1;
    pins.dram_pre_bank_o = static_cast<CData>(bank);
    pins.dram_pre_all_o = all ? 1 : 0;
    tick();
  }

  void refresh() {
    board_.pins().dram_ref_valid_o = 1;
    tick();
  }

  void column(bool write, unsigned bank, unsigned col) {
    auto& pins = board_.pins();
    pins.dram_cas_valid_o = 1;
    pins.dram_cas_write_o = write ? 1 : 0;
    pins.dram_cas_bank_o = static_cast<CData>(bank);
    pins.dram_cas_col_o = static_cast<CData>(col);
    tick();
  }

  void read(unsigned bank, unsigned col) { column(false, bank, col); }

  void write(unsigned bank, unsigned col, unsigned value, unsigned lanes = 0xff) {
    std::memset(board_.pins().dram_wdata_o.data(), static_cast<int>(value), 64);
    board_.pins().dram_wcheck_o = check_of(0x0101'0101'0101'0101ULL * value) * 0x0101'0101'0101'0101ULL;
    board_.pins().dram_wlanes_o = static_cast<CData>(lanes);
    board_.pins().dram_wflips_o = 0;
    column(true, bank, col);
  }

  /// Reads a column of the open row and waits for the answer.
  void read_back(unsigned bank, unsigned col) {
    idle(t_wtr);
    read(bank, col);
    idle(t_cl);
  }

  [[nodiscard]] std::uint64_t read_word(unsigned lane) {
    std::uint64_t word = 0;
    std::memcpy(&word, board_.pins().dram_rdata_i.data() + 2 * lane, sizeof word);
    return word;
  }

  [[nodiscard]] unsigned read_check(unsigned lane) {
    return static_cast<unsigned>(board_.pins().dram_rcheck_i >> (8 * lane)) & 0xffU;
  }

  void expect_broken(std::string_view rule) {
    EXPECT_NE(device_.violation().find(rule), std::string::npos)
        << "'" << device_.violation() << "' should name " << rule;
  }

  void expect_kept() { EXPECT_EQ(device_.violation(), ""); }

  DramTiming timing_;
  UndrivenBoard board_;
  DramArray array_;
  DramDevice device_;
  std::uint64_t now_ = 1000;
};

TEST_F(DramDeviceTest, holds_the_controller_to_a_programmed_timing_from_the_refresh_on_that_takes_it) {
  DramTiming timing = timing_;
  timing.row.set_t_rcd(t_rcd + 4);
  device_.program(timing);
  refresh();
  idle(t_rfc - 1);
  activate(0, 0);
  idle(t_rcd - 1);
  read(0, 0);
  expect_kept();
  idle(t_ras);
  precharge(0);
  idle(t_rp);
  board_.pins().dram_pre_all_o = 1;  // the sign
  refresh();
  idle(t_rfc - 1);
  activate(0, 0);
  idle(t_rcd - 1);
  read(0, 0);
  expect_broken("t_rcd");
}

TEST_F(DramDeviceTest, keeps_bytes_at_linear_device_addresses) {
  // Row 1 folds to bank XOR 1, so bank 0 of the command port is bank 1 of the address: group 1.
  activate(0, 1);
  idle(t_rcd - 1);
  write(0, 3, 0xab, 1);
  const auto address = (1U << 17U) | (3U << 8U) | (1U << 6U);
  EXPECT_EQ(array_.run(address, 1)[0], std::byte{0xab});
  EXPECT_EQ(array_.run(address + 7, 1)[0], std::byte{0xab});
  EXPECT_EQ(array_.run(address + 8, 1)[0], std::byte{0}) << "its word was not to be written";
  expect_kept();
}

TEST_F(DramDeviceTest, answers_a_read_exactly_after_its_latency) {
  array_.run(0, 1)[0] = std::byte{0x5a};
  activate(0, 0);
  idle(t_rcd - 1);
  read(0, 0);
  for (unsigned cycle = 1; cycle < t_cl; ++cycle) {
    tick();
    EXPECT_EQ(board_.pins().dram_rvalid_i, 0) << cycle;
  }
  tick();
  EXPECT_EQ(board_.pins().dram_rvalid_i, 1);
  EXPECT_EQ(board_.pins().dram_rdata_i.data()[0] & 0xffU, 0x5aU);
  tick();
  EXPECT_EQ(board_.pins().dram_rvalid_i, 0);
}

TEST_F(DramDeviceTest, gives_check_bits_that_fit_what_was_written_and_what_was_put_beside_it) {
  const std::uint64_t word = 0x0123'4567'89ab'cdef;
  std::memcpy(array_.run(8, 8).data(), &word, sizeof word);
  activate(0, 0);
  idle(t_rcd);
  write(0, 0, 0x5a, 1);
  read_back(0, 0);
  EXPECT_EQ(read_word(0), 0x5a5a'5a5a'5a5a'5a5aULL);
  EXPECT_EQ(read_check(0), check_of(0x5a5a'5a5a'5a5a'5a5aULL));
  EXPECT_EQ(read_word(1), word);
  EXPECT_EQ(read_check(1), check_of(word));
}

TEST_F(DramDeviceTest, keeps_bits_that_are_to_be_wrong_beside_the_right_ones_until_the_word_is_written) {
  activate(0, 0);
  idle(t_rcd);
  write(0, 0, 0);
  board_.pins().dram_wflips_o = 0x8001;
  board_.pins().dram_wflip_lane_o = 2;
  board_.pins().dram_wcheck_o = 0x40ULL << 24U;
  idle(t_ccd_l);
  column(true, 0, 0);
  EXPECT_EQ(array_.errors().at(16), (ErrorMask{0x8001, 0}));
  EXPECT_EQ(array_.errors().at(24), (ErrorMask{0, 0x40}));
  EXPECT_EQ(array_.run(16, 1)[0], std::byte{0}) << "the cells hold what was written";
  read_back(0, 0);
  EXPECT_EQ(read_word(2), 0x8001U);
  EXPECT_EQ(read_check(2), 0U) << "the check bits are those of the word that was written";
  EXPECT_EQ(read_check(3), 0x40U);
  idle(t_rtw);
  write(0, 0, 0, 0b0100);
  EXPECT_EQ(array_.errors().at(16), ErrorMask{});
  EXPECT_EQ(array_.errors().at(24), (ErrorMask{0, 0x40})) << "another word of the column";
}

TEST_F(DramDeviceTest, accepts_commands_at_their_earliest) {
  refresh();
  idle(t_rfc - 1);
  activate(0, 0);
  idle(t_rrd_l - 1);
  activate(1, 0);
  idle(t_rcd - 1);
  write(0, 0, 1);
  idle(t_wtr - 1);
  read(0, 1);
  idle(t_rtw - 1);
  write(0, 2, 1);
  idle(t_wr - 1);
  precharge(0, true);
  idle(t_rp - 1);
  activate(0, 1);
  expect_kept();
}

TEST_F(DramDeviceTest, notices_a_column_command_that_comes_too_early_or_to_a_closed_bank) {
  read(2, 0);
  expect_broken("closed bank");
  device_.power_on();
}

TEST_F(DramDeviceTest, notices_t_rcd) {
  activate(0, 0);
  idle(t_rcd - 2);
  read(0, 0);
  expect_broken("t_rcd");
}

TEST_F(DramDeviceTest, notices_t_ccd_l_within_a_group_and_not_between_groups) {
  activate(0, 0);
  idle(t_rrd_l);
  activate(1, 0);
  idle(t_rcd);
  read(0, 0);
  read(1, 0);
  expect_kept();
  read(1, 1);
  expect_broken("t_ccd_l");
}

TEST_F(DramDeviceTest, notices_t_wtr) {
  activate(0, 0);
  idle(t_rcd);
  write(0, 0, 1);
  idle(t_wtr - 2);
  read(0, 1);
  expect_broken("t_wtr");
}

TEST_F(DramDeviceTest, notices_t_rtw) {
  activate(0, 0);
  idle(t_rcd);
  read(0, 0);
  idle(t_rtw - 2);
  write(0, 1, 1);
  expect_broken("t_rtw");
}

TEST_F(DramDeviceTest, notices_t_ras) {
  activate(0, 0);
  idle(t_ras - 2);
  precharge(0);
  expect_broken("t_ras");
}

TEST_F(DramDeviceTest, notices_t_rtp) {
  activate(0, 0);
  idle(t_ras);
  read(0, 0);
  idle(t_rtp - 2);
  precharge(0);
  expect_broken("t_rtp");
}

TEST_F(DramDeviceTest, notices_t_wr) {
  activate(0, 0);
  idle(t_ras);
  write(0, 0, 1);
  idle(t_wr - 2);
  precharge(0);
  expect_broken("t_wr");
}

TEST_F(DramDeviceTest, notices_t_rp) {
  activate(0, 0);
  idle(t_ras);
  precharge(0);
  idle(t_rp - 2);
  activate(0, 1);
  expect_broken("t_rp");
}

TEST_F(DramDeviceTest, notices_t_rrd_l_within_a_group_and_not_between_groups) {
  activate(0, 0);
  activate(1, 0);
  activate(2, 0);
  expect_kept();
  activate(6, 0);
  expect_broken("t_rrd_l");
}

TEST_F(DramDeviceTest, notices_t_faw) {
  for (unsigned bank = 0; bank < 5; ++bank) {
    activate(bank, 0);
    idle(t_rrd_l - 1);
  }
  expect_broken("t_faw");
}

TEST_F(DramDeviceTest, notices_an_activate_of_an_open_bank) {
  activate(0, 0);
  idle(20);
  activate(0, 1);
  expect_broken("open bank");
}

TEST_F(DramDeviceTest, notices_a_refresh_with_an_open_bank) {
  activate(4, 0);
  idle(20);
  refresh();
  expect_broken("refresh with an open bank");
}

TEST_F(DramDeviceTest, notices_t_rfc) {
  refresh();
  idle(t_rfc - 2);
  activate(0, 0);
  expect_broken("t_rfc");
}

TEST_F(DramDeviceTest, notices_a_refresh_that_is_overdue) {
  refresh();
  idle(9 * t_refi - 2);
  expect_kept();
  idle(4);
  expect_broken("t_refi");
}

}  // namespace
}  // namespace datum::sim
