// Board addresses: what they may say, and what is said about those that make no sense.

#include <gtest/gtest.h>

#include "sim/board/options.hpp"

namespace datum::sim {
namespace {

BoardOptions parsed(std::string_view address, std::string_view defaults = {}) {
  auto options = parse_board_address(address, defaults);
  EXPECT_TRUE(options) << address << ": " << (options ? "" : options.error().message);
  return options ? *options : BoardOptions{};
}

std::string refused(std::string_view address, std::string_view defaults = {}) {
  const auto options = parse_board_address(address, defaults);
  EXPECT_FALSE(options) << address;
  if (options) {
    return {};
  }
  EXPECT_EQ(options.error().code, ErrorCode::invalid_argument);
  return options.error().message;
}

std::string hint_of(std::string_view address) {
  const auto options = parse_board_address(address, {});
  return options ? std::string("it is taken") : options.error().hint;
}

bool mentions(const std::string& text, std::initializer_list<std::string_view> words) {
  for (const auto word : words) {
    if (text.find(word) == std::string::npos) {
      ADD_FAILURE() << "'" << text << "' does not say '" << word << "'";
      return false;
    }
  }
  return true;
}

TEST(BoardAddress, without_options_is_the_default_board) {
  for (const auto* const address : {"model", "model:"}) {
    const auto options = parsed(address);
    EXPECT_EQ(options.scheme, Scheme::model);
    EXPECT_EQ(options.memory_bytes, 4ULL << 30U);
    EXPECT_EQ(options.aperture_bytes, 256ULL << 20U);
    EXPECT_EQ(options.window_bytes, 64ULL << 20U);
    EXPECT_EQ(options.channels, 4U);
    EXPECT_EQ(options.backpressure_percent, 0U);
    EXPECT_EQ(options.iommu_bits, 39U);
    EXPECT_EQ(options.max_locked_bytes, 0U);
    EXPECT_FALSE(options.step_locked);
    EXPECT_FALSE(options.instrumented);
  }
  EXPECT_EQ(parsed("rtl:").scheme, Scheme::rtl);
}

TEST(BoardAddress, takes_every_option) {
  const auto options = parsed("rtl:memory=1G,aperture=128M,window=4096,channels=2,latency=100,backpressure="
                              "50,seed=0x10,step,wave=/tmp/a.fst,"
                              "coverage=b.dat,transactions=c.txt,iommu_bits=48,mappings=10,locked=8M");
  EXPECT_EQ(options.memory_bytes, 1ULL << 30U);
  EXPECT_EQ(options.aperture_bytes, 128ULL << 20U);
  EXPECT_EQ(options.window_bytes, 4096U);
  EXPECT_EQ(options.channels, 2U);
  EXPECT_EQ(options.host_latency_cycles, 100U);
  EXPECT_EQ(options.backpressure_percent, 50U);
  EXPECT_EQ(options.seed, 16U);
  EXPECT_TRUE(options.step_locked);
  EXPECT_EQ(options.waveform.file, "/tmp/a.fst");
  EXPECT_EQ(options.coverage_file, "b.dat");
  EXPECT_EQ(options.transaction_file, "c.txt");
  EXPECT_TRUE(options.instrumented) << "a waveform needs the instrumented model";
  EXPECT_EQ(options.iommu_bits, 48U);
  EXPECT_EQ(options.max_mappings, 10U);
  EXPECT_EQ(options.max_locked_bytes, 8ULL << 20U);
}

TEST(BoardAddress, sizes_that_were_not_asked_for_shrink_to_a_small_memory) {
  const auto options = parsed("model:memory=16M");
  EXPECT_EQ(options.aperture_bytes, 16ULL << 20U);
  EXPECT_EQ(options.window_bytes, 16ULL << 20U);
}

TEST(BoardAddress, overrides_the_defaults_of_the_environment) {
  const auto options = parsed("model:memory=2G", "memory=8G,channels=1");
  EXPECT_EQ(options.memory_bytes, 2ULL << 30U);
  EXPECT_EQ(options.channels, 1U);
}

TEST(BoardAddress, passes_over_defaults_that_only_the_other_scheme_has) {
  EXPECT_TRUE(parsed("model:", "wave=x.fst,wave_last=1000,instrumented").waveform.file.empty());
  EXPECT_EQ(parsed("rtl:", "wave=x.fst").waveform.file, "x.fst");
}

TEST(BoardAddress, with_a_memory_that_cannot_be_is_refused) {
  for (const auto* const value :
       {"0", "1M", "8M", "3G", "128G", "4Gi", "4G ", "", "x", "-1", "18446744073709551616", "99999999999G"}) {
    EXPECT_TRUE(mentions(refused(std::string("model:memory=") + value), {"memory", value, "16M", "64G"}));
  }
}

TEST(BoardAddress, with_an_aperture_or_window_larger_than_the_memory_is_refused) {
  EXPECT_TRUE(mentions(refused("model:memory=16M,window=32M"), {"window", "33554432", "16777216"}));
  EXPECT_TRUE(mentions(refused("model:aperture=32M,memory=16M"), {"aperture", "33554432"}));
  EXPECT_TRUE(mentions(refused("model:window=0"), {"window=0", "4K"}));
  EXPECT_TRUE(mentions(refused("model:aperture=512K"), {"aperture=512K", "1024K"}));
  EXPECT_TRUE(mentions(refused("model:window=5000"), {"window=5000"}));
}

TEST(BoardAddress, with_a_number_out_of_range_or_with_junk_behind_it_is_refused) {
  EXPECT_TRUE(mentions(refused("model:channels=0"), {"channels=0", "1", "4"}));
  EXPECT_TRUE(mentions(refused("model:channels=5"), {"channels=5"}));
  EXPECT_TRUE(mentions(refused("model:latency=10x"), {"latency=10x", "10000"}));
  EXPECT_TRUE(mentions(refused("model:backpressure=101"), {"backpressure=101", "100"}));
  EXPECT_TRUE(mentions(refused("model:seed="), {"seed="}));
  EXPECT_TRUE(mentions(refused("model:iommu_bits=40"), {"iommu_bits=40", "39", "48"}));
  EXPECT_TRUE(mentions(refused("model:locked=1"), {"locked=1", "4K"}));
  EXPECT_TRUE(mentions(refused("model:mappings=0"), {"mappings=0"}));
}

TEST(BoardAddress, with_an_unknown_option_or_a_value_too_many_is_refused) {
  EXPECT_TRUE(mentions(refused("model:speed=9"), {"speed=9", "no such option", "memory", "seed"}));
  EXPECT_TRUE(mentions(refused("model:step=1"), {"step=1", "no value"}));
  EXPECT_TRUE(mentions(refused("rtl:wave"), {"wave", "file"}));
}

TEST(BoardAddress, with_an_empty_entry_is_refused) {
  for (const auto* const address : {"model:,", "model:step,", "model:,step", "rtl:seed=1,,step"}) {
    EXPECT_TRUE(mentions(refused(address), {"empty entry", "a comma too many"})) << address;
  }
  EXPECT_TRUE(mentions(refused("model:", "memory=16M,"), {"DATUM_SIM_OPTIONS", "empty entry"}));
}

TEST(BoardAddress, with_an_option_that_is_named_twice_is_refused) {
  EXPECT_TRUE(mentions(refused("model:memory=16M,memory=32M"), {"memory=32M", "named twice"}));
  EXPECT_TRUE(mentions(refused("model:step,seed=1,step"), {"'step'", "named twice"}));
  EXPECT_TRUE(mentions(refused("model:", "seed=1,seed=1"), {"DATUM_SIM_OPTIONS", "seed=1", "named twice"}));
}

TEST(BoardAddress, with_a_suffix_that_is_none_is_refused_and_told_what_was_meant) {
  for (const auto* const value : {"16m", "16MB", "16MiB", "16Mi", "16mb"}) {
    EXPECT_EQ(hint_of(std::string("model:memory=") + value), "the suffixes are K, M and G: memory=16M")
        << value;
  }
  EXPECT_EQ(hint_of("model:window=8k"), "the suffixes are K, M and G: window=8K");
  EXPECT_EQ(hint_of("model:memory=3M"), "docs/simulation.md lists the options") << "the suffix is right";
  EXPECT_EQ(hint_of("model:memory=b"), "docs/simulation.md lists the options");
}

TEST(BoardAddress, with_control_characters_or_without_end_is_repeated_as_a_terminal_can_bear_it) {
  const auto steering = refused("model:\x1b[2J=\x07");
  EXPECT_TRUE(mentions(steering, {"\\x1b[2J=\\x07", "no such option"}));
  EXPECT_EQ(steering.find_first_of("\x1b\x07"), std::string::npos);
  EXPECT_LT(refused("model:" + std::string(100'000, 'a')).size(), 1000U);
}

TEST(BoardAddress, takes_what_a_design_says_of_itself_over_the_defaults_and_under_the_address) {
  const auto options = parse_board_address("rtl:design=own,channels=1", "memory=8G,channels=3,latency=7",
                                           "memory=64M,channels=2");
  ASSERT_TRUE(options) << options.error().message;
  EXPECT_EQ(options->design, "own");
  EXPECT_EQ(options->memory_bytes, 64ULL << 20U);
  EXPECT_EQ(options->channels, 1U);
  EXPECT_EQ(options->host_latency_cycles, 7U);
}

TEST(BoardAddress, of_a_design_that_is_none_is_refused) {
  EXPECT_TRUE(mentions(refused("rtl:design"), {"design", "name"}));
  EXPECT_TRUE(mentions(refused("model:design=own"), {"design=own", "rtl:"}));
  const auto bad = parse_board_address("rtl:design=own", {}, "memory=1");
  ASSERT_FALSE(bad);
  EXPECT_TRUE(mentions(bad.error().message, {"options of the design", "memory=1"}));
  const auto nested = parse_board_address("rtl:design=own", {}, "design=other");
  ASSERT_FALSE(nested);
  EXPECT_TRUE(mentions(nested.error().message, {"design=other"}));
}

TEST(BoardAddress, asking_a_model_for_what_only_rtl_has_is_refused) {
  EXPECT_TRUE(mentions(refused("model:wave=a.fst"), {"wave=a.fst", "rtl:"}));
  EXPECT_TRUE(mentions(refused("model:instrumented"), {"instrumented", "rtl:"}));
}

TEST(BoardAddress, of_another_scheme_is_refused) {
  EXPECT_TRUE(mentions(refused("vfio:0000:03:00.0"), {"vfio", "rtl:", "model:"}));
  EXPECT_TRUE(mentions(refused(""), {"rtl:", "model:"}));
}

TEST(BoardAddress, errors_in_the_environment_name_it) {
  EXPECT_TRUE(mentions(refused("model:", "memory=1"), {"DATUM_SIM_OPTIONS", "memory=1"}));
}

}  // namespace
}  // namespace datum::sim
