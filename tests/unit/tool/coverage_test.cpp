// Coverage of many models in one file.

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>

#include <gtest/gtest.h>

#include "tools/datum/coverage_collector.hpp"
#include "tools/datum/coverage_file.hpp"

namespace datum::tool {
namespace {

class CoverageTest : public ::testing::Test {
 protected:
  void SetUp() override {
    folder_ = std::filesystem::temp_directory_path() / "datum-coverage-test-XXXXXX";
    ASSERT_NE(::mkdtemp(folder_.data()), nullptr);
  }

  void TearDown() override { std::filesystem::remove_all(folder_); }

  std::string file(const std::string& name, const std::string& text = {}) {
    std::string path = folder_ + "/" + name;
    if (!text.empty()) {
      std::ofstream(path) << text;
    }
    return path;
  }

  static std::string content(const std::string& path) {
    std::ostringstream text;
    text << std::ifstream(path).rdbuf();
    return text.str();
  }

  std::string folder_;
};

TEST_F(CoverageTest, given_two_files_then_counts_of_the_same_point_are_added) {
  Coverage sum;
  ASSERT_TRUE(sum.add_file(file("a", "# SystemC::Coverage-3\nC '\x01p\x02it's' 3\nC 'q' 0\n")));
  ASSERT_TRUE(sum.add_file(file("b", "# SystemC::Coverage-3\nC '\x01p\x02it's' 4\nC 'r' 1\n")));
  EXPECT_EQ(sum.points(), 3U);
  EXPECT_EQ(sum.reached(), 2U);
  ASSERT_TRUE(sum.write(file("sum")));
  EXPECT_EQ(content(file("sum")), "# SystemC::Coverage-3\nC '\x01p\x02it's' 7\nC 'q' 0\nC 'r' 1\n");
}

TEST_F(CoverageTest, given_a_file_of_another_kind_then_it_is_refused_with_what_is_wrong) {
  Coverage sum;
  const auto refused = [&](const std::string& path) {
    const Status status = sum.add_file(path);
    EXPECT_FALSE(status);
    return status ? std::string{} : status.error().message;
  };
  EXPECT_NE(refused(file("text", "hello\n")).find("its first line is another"), std::string::npos);
  EXPECT_NE(refused(file("missing")).find("cannot be read"), std::string::npos);
  EXPECT_NE(refused(file("cut", "# SystemC::Coverage-3\nC 'q\n")).find("'C 'q'"), std::string::npos);
  EXPECT_NE(refused(file("count", "# SystemC::Coverage-3\nC 'q' x\n")).find("x'"), std::string::npos);
}

TEST_F(CoverageTest, given_boards_then_each_rtl_has_a_file_of_its_own_and_all_come_together) {
  auto collector = CoverageCollector::create(file("all.dat", "# SystemC::Coverage-3\nC 'q' 5\n"));
  ASSERT_TRUE(collector) << collector.error().message;
  EXPECT_EQ(collector->with_coverage("model:"), "model:");
  const std::string first = collector->with_coverage("rtl:step");
  const std::string second = collector->with_coverage("rtl");
  ASSERT_TRUE(first.starts_with("rtl:step,coverage=")) << first;
  ASSERT_TRUE(second.starts_with("rtl:coverage=")) << second;
  std::ofstream(first.substr(first.find('=') + 1)) << "# SystemC::Coverage-3\nC 'q' 1\n";
  std::ofstream(second.substr(second.find('=') + 1)) << "# SystemC::Coverage-3\nC 'r' 1\n";
  std::ofstream(second.substr(second.find('=') + 1) + ".1") << "# SystemC::Coverage-3\nC 'r' 2\n";
  ASSERT_TRUE(collector->finish());
  EXPECT_EQ(content(file("all.dat")), "# SystemC::Coverage-3\nC 'q' 6\nC 'r' 3\n");
}

TEST_F(CoverageTest, given_a_sum_that_is_none_then_it_is_told_before_anything_is_made) {
  const auto collector = CoverageCollector::create(file("all.dat", "hello\n"));
  ASSERT_FALSE(collector);
  EXPECT_NE(collector.error().message.find("is no coverage"), std::string::npos);
}

}  // namespace
}  // namespace datum::tool
