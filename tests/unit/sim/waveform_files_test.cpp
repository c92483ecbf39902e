// The names of a waveform's files, and what of an earlier run goes.

#include <filesystem>
#include <fstream>
#include <string>

#include <gtest/gtest.h>

#include "sim/rtl/waveform_files.hpp"

namespace datum::sim {
namespace {

TEST(WaveformNames, a_further_window_keeps_the_suffix_that_viewers_know) {
  EXPECT_EQ(file_of_window("/a/run.fst", 1), "/a/run.fst");
  EXPECT_EQ(file_of_window("/a/run.fst", 2), "/a/run.2.fst");
  EXPECT_EQ(file_before(file_of_window("/a/run.fst", 12)), "/a/run.12.before.fst");
}

TEST(WaveformNames, the_file_before_keeps_the_suffix_that_viewers_know) {
  EXPECT_EQ(file_before("/a/run.fst"), "/a/run.before.fst");
  EXPECT_EQ(file_before("run"), "run.before");
  EXPECT_EQ(file_before(".fst"), ".fst.before");
}

TEST(WaveformNames, a_later_life_of_a_board_has_names_that_no_window_has) {
  EXPECT_EQ(file_of_life("/a/run.fst", 1), "/a/run.fst");
  EXPECT_EQ(file_of_life("/a/run.fst", 2), "/a/run.life2.fst");
  EXPECT_EQ(file_of_life("run", 2), "run.life2");
  EXPECT_EQ(file_before(file_of_window(file_of_life("/a/run.fst", 3), 2)), "/a/run.life3.2.before.fst");
}

class EarlierWaveforms : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / "datum-waveform-XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }

  void TearDown() override { std::filesystem::remove_all(folder_); }

  [[nodiscard]] std::string path(const std::string& name) const { return folder_ + "/" + name; }

  void write(const std::string& name, const std::string& content) const {
    std::ofstream(path(name), std::ios::binary) << content;
  }

  [[nodiscard]] bool is_there(const std::string& name) const { return std::filesystem::exists(path(name)); }

  const std::string waveform_ = std::string("\0\0\0\0\0\0\0\1\x49", 9) + "and more";
  std::string folder_;
};

TEST_F(EarlierWaveforms, given_windows_and_lives_of_an_earlier_run_then_they_are_gone_and_the_file_is_not) {
  const std::string gone[] = {
      "run.before.fst",       "run.2.fst",       "run.731.fst",           "run.2.before.fst", "run.life2.fst",
      "run.life2.before.fst", "run.life3.4.fst", "run.life3.4.before.fst"};
  for (const std::string& name : gone) {
    write(name, waveform_);
  }
  write("run.5.fst", "");
  write("run.fst", waveform_);
  remove_earlier_files(path("run.fst"));
  for (const std::string& name : gone) {
    EXPECT_FALSE(is_there(name)) << name;
  }
  EXPECT_FALSE(is_there("run.5.fst")) << "its trigger never came";
  EXPECT_TRUE(is_there("run.fst"));
}

TEST_F(EarlierWaveforms, given_files_of_others_then_they_stay) {
  const std::string others[] = {
      "run.left.fst", "run.fst.2",    "run.2x.fst",       "run2.fst", "other.2.fst",
      "run.2",        "run.life.fst", "run.before.2.fst", "run..fst", "run.life2.3.4.fst"};
  for (const std::string& name : others) {
    write(name, waveform_);
  }
  write("run.2.fst", "no waveform");
  remove_earlier_files(path("run.fst"));
  for (const std::string& name : others) {
    EXPECT_TRUE(is_there(name)) << name;
  }
  EXPECT_TRUE(is_there("run.2.fst"));
}

TEST_F(EarlierWaveforms, given_a_file_in_a_folder_that_is_not_there_then_nothing_happens) {
  remove_earlier_files(path("none/run.fst"));
  remove_earlier_files("run.fst");
}

}  // namespace
}  // namespace datum::sim
