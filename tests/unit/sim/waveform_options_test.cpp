// Options of addresses that say what goes into a waveform, and when.

#include <gtest/gtest.h>

#include <datum/hw/registers.hpp>

#include "sim/board/options.hpp"

namespace datum::sim {
namespace {

using Kind = WaveformTrigger::Kind;

WaveformOptions taken(const std::string& options) {
  const auto parsed = parse_board_address("rtl:wave=a.fst," + options, {});
  EXPECT_TRUE(parsed) << options << ": " << (parsed ? "" : parsed.error().message);
  return parsed ? parsed->waveform : WaveformOptions{};
}

/// Message and cure.
std::string waveform_refusal(const std::string& options) {
  const auto parsed = parse_board_address("rtl:" + options, {});
  EXPECT_FALSE(parsed) << options;
  return parsed ? std::string{} : parsed.error().message + " -- " + parsed.error().hint;
}

bool tells_all(const std::string& text, std::initializer_list<std::string_view> words) {
  for (const auto word : words) {
    if (text.find(word) == std::string::npos) {
      ADD_FAILURE() << "'" << text << "' does not say '" << word << "'";
      return false;
    }
  }
  return true;
}

TEST(WaveformOptionsOfAddress, given_a_file_alone_then_everything_is_recorded) {
  const auto options = parse_board_address("rtl:wave=a.fst", {});
  ASSERT_TRUE(options);
  EXPECT_TRUE(options->instrumented);
  EXPECT_EQ(options->waveform.file, "a.fst");
  EXPECT_TRUE(options->waveform.scopes.empty());
  EXPECT_TRUE(options->waveform.triggers.empty());
  EXPECT_FALSE(!options->waveform.from_cycles.empty() || options->waveform.last_cycles ||
               options->waveform.size_bytes);
}

TEST(WaveformOptionsOfAddress, given_the_other_name_of_the_file_then_it_is_the_same_option) {
  const auto options = parse_board_address("rtl:trace=b.fst", "wave=a.fst");
  ASSERT_TRUE(options);
  EXPECT_EQ(options->waveform.file, "b.fst");
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a.fst,trace=b.fst"), {"trace=b.fst", "named twice"}));
}

TEST(WaveformOptionsOfAddress, given_a_window_by_time_then_both_cycles_are_in_it) {
  const auto options = taken("wave_from=100,wave_to=0x100,wave_size=64M,wave_scope=u_dma+datum_board.u_mmu");
  EXPECT_EQ(options.from_cycles, std::vector<std::uint64_t>{100});
  EXPECT_EQ(options.to_cycles, std::vector<std::uint64_t>{256});
  EXPECT_EQ(options.size_bytes, 64ULL << 20U);
  EXPECT_EQ(options.scopes, (std::vector<std::string>{"u_dma", "datum_board.u_mmu"}));
}

TEST(WaveformOptionsOfAddress, given_triggers_then_each_is_understood) {
  const auto options = taken(
      "wave_on=write:ring_tail[3]+write:RESET=1+write:0x5000+fault+descriptor:17+descriptor:9@2+watchdog,"
      "wave_next=500");
  ASSERT_EQ(options.triggers.size(), 7U);
  EXPECT_EQ(options.triggers[0].kind, Kind::register_write);
  EXPECT_EQ(options.triggers[0].offset, hw::ring_tail(3));
  EXPECT_FALSE(options.triggers[0].value);
  EXPECT_EQ(options.triggers[1].offset, hw::reset);
  EXPECT_EQ(options.triggers[1].value, 1U);
  EXPECT_EQ(options.triggers[2].offset, 0x5000U);
  EXPECT_EQ(options.triggers[3].kind, Kind::fault);
  EXPECT_EQ(options.triggers[4].kind, Kind::descriptor);
  EXPECT_EQ(options.triggers[4].number, 17U);
  EXPECT_FALSE(options.triggers[4].ring);
  EXPECT_EQ(options.triggers[5].number, 9U);
  EXPECT_EQ(options.triggers[5].ring, 2U);
  EXPECT_EQ(options.triggers[6].kind, Kind::watchdog);
  EXPECT_EQ(options.next_cycles, 500U);
  EXPECT_FALSE(options.last_cycles);
}

TEST(WaveformOptionsOfAddress, given_the_last_cycles_and_no_trigger_then_a_fault_or_the_watchdog_ends_them) {
  const auto options = taken("wave_last=5000");
  ASSERT_EQ(options.triggers.size(), 2U);
  EXPECT_EQ(options.triggers[0].kind, Kind::fault);
  EXPECT_EQ(options.triggers[1].kind, Kind::watchdog);
  EXPECT_EQ(options.next_cycles, default_next_cycles);
  EXPECT_EQ(taken("wave_last=5000,wave_on=assertion").triggers[0].kind, Kind::assertion);
}

TEST(WaveformOptionsOfAddress, given_a_trigger_that_is_none_then_what_there_is_is_told) {
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_on=error"),
                        {"wave_on=error", "no trigger", "write:", "descriptor:", "'+'"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_on="), {"wave_on", "no trigger"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_on=write:RING_TAIL[64]"),
                        {"RING_TAIL[64]", "no register", "registers.md"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_on=write:TURBO"), {"'TURBO'", "0x80000"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_on=write:0x80000"), {"'0x80000'", "no offset"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_on=write:RESET=yes"), {"'yes'", "64 bits"}));
  EXPECT_TRUE(
      tells_all(waveform_refusal("wave=a,wave_on=descriptor:-1"), {"'-1'", "32 bits", "descriptor:17@3"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_on=descriptor:1@64"), {"'64'", "0 to 63"}));
}

TEST(WaveformOptionsOfAddress, given_a_number_out_of_range_then_value_and_limits_are_told) {
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_last=99"), {"wave_last=99", "100", "1000000000000"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_from=x"), {"wave_from=x", "from 0"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_on=fault,wave_next=0"), {"wave_next=0", "from 1"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_size=1K"), {"wave_size=1K", "1M", "1024G"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_size=64m"), {"wave_size=64M"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_scope=u_dma+"), {"wave_scope=u_dma+", "u_mmu"}));
}

TEST(WaveformOptionsOfAddress, given_options_that_contradict_one_another_then_the_cure_is_told) {
  EXPECT_TRUE(tells_all(waveform_refusal("wave_last=1000"), {"in which file", "wave=FILE"}));
  EXPECT_TRUE(
      tells_all(waveform_refusal("wave=a,wave_from=1,wave_on=fault"), {"by time", "wave_on", "leave one"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_to=1,wave_last=1000"), {"wave_to", "wave_last"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_from=7,wave_to=6"), {"wave_from=7", "wave_to=6"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_next=7"), {"wave_next=7", "wave_on=TRIGGER"}));
  EXPECT_TRUE(
      tells_all(waveform_refusal("wave=a,wave_on=assertion"), {"wave_on=assertion", "wave_last=CYCLES"}));
}

TEST(WaveformOptionsOfAddress, given_several_windows_then_each_has_both_its_cycles_or_its_trigger) {
  const auto by_time = taken("wave_from=100+5000,wave_to=200+0x1400");
  EXPECT_EQ(by_time.from_cycles, (std::vector<std::uint64_t>{100, 5000}));
  EXPECT_EQ(by_time.to_cycles, (std::vector<std::uint64_t>{200, 5120}));
  EXPECT_EQ(windows_of(by_time), 2U);
  EXPECT_EQ(windows_of(taken("wave_on=descriptor:4,wave_next=10,wave_windows=3")), 3U);
  EXPECT_EQ(windows_of(taken("wave_last=100,wave_windows=1000")), 1000U);
  EXPECT_EQ(windows_of(taken("wave_on=fault")), 1U);
}

TEST(WaveformOptionsOfAddress, given_windows_that_make_no_sense_then_the_cure_is_told) {
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_from=1+9,wave_to=5"),
                        {"2 windows", "wave_to 1", "wave_from=100+5000"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_from=1+9,wave_to=9+20"),
                        {"from 9", "to 9 has ended", "in their order"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_from=1+9,wave_to=5+8"), {"wave_from=9", "wave_to=8"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_from=1+"), {"wave_from=", "from 0"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_windows=2"), {"wave_windows=2", "wave_on=TRIGGER"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_on=fault,wave_windows=2"),
                        {"first never ends", "wave_next=CYCLES"}));
  EXPECT_TRUE(
      tells_all(waveform_refusal("wave=a,wave_last=100,wave_windows=1001"), {"wave_windows=1001", "1000"}));
  EXPECT_TRUE(tells_all(waveform_refusal("wave=a,wave_last=100,wave_windows=9,wave_size=8M"),
                        {"9 windows", "1M", "fewer"}));
  EXPECT_TRUE(
      tells_all(waveform_refusal("wave=a,wave_to=9,wave_windows=2"), {"by time", "wave_windows", "leave"}));
}

}  // namespace
}  // namespace datum::sim
