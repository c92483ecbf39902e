// The list of drivers that `datum env` prints.
#include <cstdlib>
#include <fstream>

#include <gtest/gtest.h>

#include "tools/datum/driver_list.hpp"
#include "tools/datum/environment.hpp"
#include "tools/datum/open_board.hpp"

namespace datum::test {

namespace fs = std::filesystem;

class ToolDriverList : public ::testing::Test {
 protected:
  ToolDriverList() {
    std::string pattern = (fs::temp_directory_path() / "datum-drivers-XXXXXX").string();
    folder_ = ::mkdtemp(pattern.data());
    for (const char* name : {"a", "b"}) {
      fs::create_directory(folder_ / name);
    }
  }

  ~ToolDriverList() override { fs::remove_all(folder_); }

  fs::path put(const char* name) {
    std::ofstream(folder_ / name) << "x";
    return folder_ / name;
  }

  [[nodiscard]] static std::vector<std::string> list(const char* listed, const fs::path& own,
                                                     const std::vector<fs::path>& installed = {}) {
    return tool::driver_list(listed, installed, own).value();
  }

  fs::path folder_;
};

TEST_F(ToolDriverList, given_drivers_of_others_when_looked_for_then_the_first_folder_has_each) {
  const fs::path gpu = put("a/libze_intel_gpu.so.1");
  put("b/libze_intel_gpu.so.1");
  const fs::path npu = put("b/libze_intel_npu.so.1");
  put("b/libze_other.so.1");
  const std::vector<fs::path> folders = {folder_ / "none", folder_ / "a", folder_ / "b"};
  EXPECT_EQ(tool::installed_drivers(folders), (std::vector<fs::path>{gpu, npu}));
}

TEST_F(ToolDriverList, given_no_variable_when_made_then_installed_ones_come_first_and_ours_last) {
  EXPECT_EQ(list(nullptr, "/x/libze_datum.so", {"/y/libze_intel_gpu.so.1"}),
            (std::vector<std::string>{"/y/libze_intel_gpu.so.1", "/x/libze_datum.so"}));
  EXPECT_EQ(list(nullptr, "/x/libze_datum.so"), (std::vector<std::string>{"/x/libze_datum.so"}));
}

TEST_F(ToolDriverList, given_a_variable_with_empty_entries_when_made_then_none_is_left) {
  for (const char* listed : {"", ",", "a.so,", ",a.so", "a.so,,"}) {
    for (const std::string& entry : list(listed, "/x/libze_datum.so")) {
      EXPECT_FALSE(entry.empty()) << listed;
    }
  }
  EXPECT_EQ(list("a.so,,b.so,", "/x/libze_datum.so"),
            (std::vector<std::string>{"a.so", "b.so", "/x/libze_datum.so"}));
}

TEST_F(ToolDriverList, given_ours_in_the_variable_when_made_then_it_stands_once_and_last) {
  const fs::path own = put("a/libze_datum.so");
  fs::create_symlink(own, folder_ / "link.so");
  EXPECT_EQ(list((own.string() + ",b.so," + (folder_ / "link.so").string()).c_str(), own),
            (std::vector<std::string>{"b.so", own.string()}));
}

TEST_F(ToolDriverList, given_a_comma_in_our_path_when_made_then_it_is_refused) {
  EXPECT_FALSE(tool::driver_list(nullptr, {}, "/with,comma/libze_datum.so"));
}

TEST(ToolChosenBoard, given_a_list_of_boards_when_one_is_chosen_then_it_is_the_first_with_its_options) {
  EXPECT_EQ(*tool::chosen_board("rtl:seed=7,memory=1G,model:"), "rtl:seed=7,memory=1G");
  EXPECT_EQ(*tool::chosen_board("model"), "model");
  EXPECT_EQ(*tool::chosen_board("vfio:0000:03:00.0,container,rtl:"), "vfio:0000:03:00.0,container");
  EXPECT_EQ(*tool::chosen_board("zzz:"), "zzz:");
}

}  // namespace datum::test
