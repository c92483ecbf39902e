// What is told of a difference, and which part of a waveform shows it.

#include <gtest/gtest.h>

#include "tools/datum/cosim_evidence.hpp"
#include "tools/datum/cosim_result.hpp"

namespace datum::tool {
namespace {

CosimResult result_with_difference() {
  CosimResult result;
  result.first_seed = 6;
  result.boards = {"model:", "rtl:step"};
  result.agreed = {6};
  cosim::Finding& finding = result.finding.emplace();
  finding.seed = 7;
  finding.board_index = 1;
  finding.board = "rtl:step";
  finding.failure = "it is wrong";
  finding.shortest = cosim::make_program(7);
  cosim::WrongPlace& place = finding.place.emplace();
  place.operation = 4;
  place.memory = "host";
  place.first_cycle = 2000;
  place.last_cycle = 2300;
  return result;
}

TEST(CosimEvidenceTest, given_an_address_then_an_option_stands_where_it_belongs) {
  EXPECT_EQ(with_option("rtl", "step"), "rtl:step");
  EXPECT_EQ(with_option("rtl:", "step"), "rtl:step");
  EXPECT_EQ(with_option("rtl:seed=1", "step"), "rtl:seed=1,step");
  EXPECT_TRUE(is_rtl_address("rtl"));
  EXPECT_TRUE(is_rtl_address("rtl:step"));
  EXPECT_FALSE(is_rtl_address("model:"));
}

TEST(CosimEvidenceTest, given_the_place_then_the_window_begins_with_its_descriptor_and_else_holds_the_end) {
  CosimResult result = result_with_difference();
  EXPECT_EQ(waveform_window(*result.finding), "wave_on=descriptor:5@0,wave_next=1300");
  result.finding->place.reset();
  EXPECT_EQ(waveform_window(*result.finding), "wave_last=100000");
}

TEST(CosimEvidenceTest, given_a_board_without_waveforms_then_it_is_told_and_no_error) {
  CosimResult result = result_with_difference();
  result.finding->board_index = 0;
  write_waveform_of(result, "never.fst");
  EXPECT_EQ(result.evidence.waveform, "");
  EXPECT_NE(result.evidence.waveform_failure.find("model: is no rtl: board"), std::string::npos);
}

TEST(CosimResultTest, given_evidence_then_json_junit_and_text_name_its_files) {
  CosimResult result = result_with_difference();
  result.evidence.timeline = "out.json";
  result.evidence.waveform = "o&t.fst";
  result.evidence.waveform_options = waveform_window(*result.finding);
  result.coverage = CosimCoverage{"all.dat", 100, 60};
  const auto json = json_of(result);
  EXPECT_EQ(json.at("programs"), 2);
  EXPECT_EQ(json.at("difference").at("seed"), 7);
  EXPECT_EQ(json.at("difference").at("timeline"), "out.json");
  EXPECT_EQ(json.at("difference").at("waveform"), "o&t.fst");
  EXPECT_TRUE(json.at("difference").at("waveform_failure").is_null());
  EXPECT_EQ(json.at("coverage").at("points"), 100);
  EXPECT_EQ(json.at("coverage").at("reached"), 60);
  const std::string junit = junit_of(result, "model:,rtl:step");
  for (const auto* const words : {"failures=\"1\"", "[[ATTACHMENT|out.json]]", "[[ATTACHMENT|o&amp;t.fst]]",
                                  "name=\"coverage reached\" value=\"60\""}) {
    EXPECT_NE(junit.find(words), std::string::npos) << words << " in " << junit;
  }
  const std::string text = text_of(result, "datum cosim --seed 7");
  for (const auto* const words : {"timeline: out.json", "waveform: o&t.fst (wave_on=descriptor:5@0",
                                  "repeat with: datum cosim --seed 7", "coverage: 60 of 100 points"}) {
    EXPECT_NE(text.find(words), std::string::npos) << words << " in " << text;
  }
}

TEST(CosimResultTest, given_boards_that_agree_then_there_is_no_difference_and_no_coverage) {
  CosimResult result;
  result.boards = {"model:", "rtl:"};
  result.agreed = {1, 2, 3};
  result.operations = 60;
  const auto json = json_of(result);
  EXPECT_TRUE(json.at("difference").is_null());
  EXPECT_TRUE(json.at("coverage").is_null());
  EXPECT_EQ(text_of(result, ""), "3 programs, 60 operations: 2 boards agree byte for byte\n");
  EXPECT_EQ(junit_of(result, "a").find("<properties>"), std::string::npos);
}

}  // namespace
}  // namespace datum::tool
