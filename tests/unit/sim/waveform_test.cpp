// Which cycles go into a waveform, and into which of its files: without a model, whose dumps are bytes here.

#include <cstdio>
#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "sim/rtl/waveform.hpp"

namespace datum::sim {
namespace {

/// Writes the number of each cycle, as a line, and zeros behind it.
class BoardOfLines final : public VerilatedBoard {
 public:
  void evaluate() override {}

  void open_waveform(const std::string& file, const std::vector<std::string>&) override {
    file_.open(file, std::ios::trunc);
  }

  void dump(std::uint64_t cycle) override {
    if (file_.is_open()) {
      waiting_ += std::to_string(cycle) + std::string(padding, ' ') + "\n";
      if (flush_) {
        write_out();
      }
    }
  }

  void flush_waveform() override { flush_ = true; }

  void close_waveform() override {
    write_out();
    file_.close();
  }

  [[nodiscard]] BoardPins& pins() noexcept override { std::abort(); }

  std::size_t padding = 0;

 private:
  void write_out() {
    file_ << waiting_ << std::flush;
    waiting_.clear();
    flush_ = false;
  }

  std::ofstream file_;
  std::string waiting_;
  bool flush_ = false;
};

class WaveformTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / "datum-waveform-XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
    file_ = folder_ + "/run.fst";
  }

  void TearDown() override { std::filesystem::remove_all(folder_); }

  static WaveformTrigger on_fault() { return {}; }

  void begin() {
    waveform_ = std::make_unique<Waveform>(board_, options_, file_, std::vector<std::string>{});
  }

  void run_to(std::uint64_t end) {
    for (; cycle_ < end; ++cycle_) {
      waveform_->begin_cycle(cycle_);
      board_.dump(cycle_);
    }
  }

  static std::pair<std::uint64_t, std::uint64_t> cycles_in(const std::string& name) {
    std::ifstream file(name);
    std::pair<std::uint64_t, std::uint64_t> range{0, 0};
    std::string line;
    for (bool first = true; std::getline(file, line); first = false) {
      range.second = std::stoull(line);
      range.first = first ? range.second : range.first;
    }
    return range;
  }

  using Range = std::pair<std::uint64_t, std::uint64_t>;

  std::string folder_;
  std::string file_;
  BoardOfLines board_;
  WaveformOptions options_;
  std::unique_ptr<Waveform> waveform_;
  std::uint64_t cycle_ = 0;
};

TEST_F(WaveformTest, given_a_file_alone_then_every_cycle_is_in_it) {
  begin();
  run_to(5000);
  waveform_->finish();
  EXPECT_EQ(cycles_in(file_), (Range{0, 4999}));
}

TEST_F(WaveformTest, given_a_window_by_time_then_nothing_else_is_in_it) {
  options_.from_cycles = {100};
  options_.to_cycles = {200};
  begin();
  run_to(1000);
  EXPECT_EQ(cycles_in(file_), (Range{100, 200})) << "and the file is whole when the window ends";
}

TEST_F(WaveformTest, given_a_trigger_then_it_begins_there_and_a_second_one_changes_nothing) {
  options_.triggers = {on_fault()};
  options_.next_cycles = 50;
  begin();
  run_to(300);
  EXPECT_FALSE(std::filesystem::exists(file_));
  waveform_->trigger();
  run_to(320);
  waveform_->trigger();
  run_to(1000);
  waveform_->trigger();
  run_to(1100);
  EXPECT_EQ(cycles_in(file_), (Range{300, 349}));
}

TEST_F(WaveformTest, given_a_trigger_without_an_end_then_it_goes_on_to_the_end_of_the_board) {
  options_.triggers = {on_fault()};
  begin();
  run_to(10);
  waveform_->trigger();
  run_to(4000);
  waveform_->finish();
  EXPECT_EQ(cycles_in(file_), (Range{10, 3999}));
}

TEST_F(WaveformTest, given_the_last_cycles_when_a_trigger_comes_then_two_files_have_what_led_to_it) {
  options_.triggers = {on_fault()};
  options_.last_cycles = 100;
  options_.next_cycles = 250;
  begin();
  run_to(1050);
  waveform_->trigger();
  run_to(3000);
  EXPECT_EQ(cycles_in(file_before(file_)), (Range{900, 999}));
  EXPECT_EQ(cycles_in(file_), (Range{1000, 1299})) << "no other file begins behind the trigger";
}

TEST_F(WaveformTest, given_the_last_cycles_when_the_board_ends_anyhow_then_they_are_there) {
  options_.triggers = {on_fault()};
  options_.last_cycles = 100;
  options_.next_cycles = 250;
  begin();
  run_to(733);
  waveform_->finish();
  EXPECT_EQ(cycles_in(file_before(file_)), (Range{600, 699}));
  EXPECT_EQ(cycles_in(file_), (Range{700, 732}));
}

TEST_F(WaveformTest, given_a_size_then_a_file_that_is_full_ends_below_it) {
  options_.size_bytes = 1U << 20U;
  board_.padding = 100;
  begin();
  run_to(30'000);
  waveform_->finish();
  EXPECT_LE(std::filesystem::file_size(file_), *options_.size_bytes);
  EXPECT_GT(std::filesystem::file_size(file_), *options_.size_bytes * 3 / 4);
  EXPECT_EQ(cycles_in(file_).first, 0U);
}

TEST_F(WaveformTest, given_a_size_and_the_last_cycles_then_the_newest_that_fit_are_kept) {
  options_.size_bytes = 1U << 20U;
  options_.last_cycles = 1'000'000;
  options_.triggers = {on_fault()};
  board_.padding = 100;
  begin();
  run_to(30'000);
  waveform_->finish();
  const auto both = std::filesystem::file_size(file_) + std::filesystem::file_size(file_before(file_));
  EXPECT_LE(both, *options_.size_bytes);
  EXPECT_EQ(cycles_in(file_).second, 29'999U);
  EXPECT_EQ(cycles_in(file_before(file_)).second + 1, cycles_in(file_).first);
}

TEST_F(WaveformTest, given_several_windows_by_time_then_each_has_a_file) {
  options_.from_cycles = {100, 201, 700};
  options_.to_cycles = {200, 300, 2000};
  begin();
  run_to(1000);
  waveform_->finish();
  EXPECT_EQ(cycles_in(file_), (Range{100, 200}));
  EXPECT_EQ(cycles_in(file_of_window(file_, 2)), (Range{201, 300})) << "right behind the first";
  EXPECT_EQ(cycles_in(file_of_window(file_, 3)), (Range{700, 999})) << "the board ended within it";
}

TEST_F(WaveformTest, given_several_windows_then_each_trigger_outside_of_one_begins_the_next_up_to_the_last) {
  options_.triggers = {on_fault()};
  options_.next_cycles = 50;
  options_.windows = 2;
  begin();
  for (const std::uint64_t trigger : {300U, 320U, 400U, 500U}) {
    run_to(trigger);
    waveform_->trigger();
  }
  run_to(1000);
  EXPECT_EQ(cycles_in(file_), (Range{300, 349})) << "the trigger in 320 is inside of it";
  EXPECT_EQ(cycles_in(file_of_window(file_, 2)), (Range{400, 449}));
  EXPECT_FALSE(std::filesystem::exists(file_of_window(file_, 3)));
}

TEST_F(WaveformTest, given_several_windows_and_the_last_cycles_then_each_has_what_led_to_its_trigger) {
  options_.triggers = {on_fault()};
  options_.last_cycles = 100;
  options_.next_cycles = 20;
  options_.windows = 3;
  begin();
  run_to(350);
  waveform_->trigger();
  run_to(590);
  waveform_->trigger();
  run_to(900);
  waveform_->finish();
  EXPECT_EQ(cycles_in(file_before(file_)), (Range{200, 299}));
  EXPECT_EQ(cycles_in(file_), (Range{300, 369}));
  const std::string second = file_of_window(file_, 2);
  EXPECT_EQ(cycles_in(file_before(second)), (Range{470, 569}));
  EXPECT_EQ(cycles_in(second), (Range{570, 609}));
  const std::string third = file_of_window(file_, 3);
  EXPECT_EQ(cycles_in(file_before(third)), (Range{710, 809})) << "the end of the board is the last trigger";
  EXPECT_EQ(cycles_in(third), (Range{810, 899}));
}

TEST_F(WaveformTest, given_several_windows_and_a_size_then_they_share_it) {
  options_.size_bytes = 3U << 20U;
  options_.triggers = {on_fault()};
  options_.next_cycles = 25'000;
  options_.windows = 2;
  board_.padding = 100;
  begin();
  waveform_->trigger();
  run_to(20'000);
  waveform_->trigger();
  run_to(40'000);
  waveform_->finish();
  for (const std::string& file : {file_, file_of_window(file_, 2)}) {
    EXPECT_LE(std::filesystem::file_size(file), *options_.size_bytes / 2);
    EXPECT_GT(std::filesystem::file_size(file), *options_.size_bytes / 3);
  }
  EXPECT_EQ(cycles_in(file_of_window(file_, 2)).first, 20'000U);
}

}  // namespace
}  // namespace datum::sim
