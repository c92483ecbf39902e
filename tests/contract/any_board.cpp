// datum-board-contract: the board contract on boards that the command line names, for those who make one.
#include <algorithm>
#include <cctype>
#include <cstdio>
#include <cstdlib>
#include <filesystem>
#include <string_view>

#include "driver/device/backend_table.hpp"
#include "tests/contract/beyond.hpp"
#include "tests/contract/contract_board.hpp"

namespace datum::test {

namespace {

constexpr const char* usage =
    "usage: datum-board-contract ADDRESS... [--gtest_filter=PATTERN] [--gtest_output=xml:FILE]\n"
    "Holds boards to Datum's board contract: rtl:design=FILE, rtl:, model:, vfio:0000:03:00.0, "
    "vfio-user:PATH.\n"
    "What an address of its kind cannot be asked is left out. Exit status: 0 if the rest holds.\n";

std::vector<std::string>& named_addresses() {
  static std::vector<std::string> named;
  return named;
}

/// The plugin of the tree that this program is installed in, or was built in.
void name_plugin() {
  std::error_code ignored;
  const auto here = std::filesystem::read_symlink("/proc/self/exe", ignored).parent_path();
  for (const auto& folder : {here / ".." / DATUM_LIBRARY_FOLDER, here / "../lib"}) {
    const auto plugin = folder / "libdatum_sim.so";
    if (std::filesystem::exists(plugin, ignored)) {
      ::setenv("DATUM_SIM_PLUGIN", plugin.c_str(), 0);
      return;
    }
  }
}

std::string left_out() {
  std::string patterns;
  const auto add = [&](const char* more) { patterns += (patterns.empty() ? "" : ":") + std::string(more); };
  for (const std::string& address : named_addresses()) {
    const auto scheme = address.substr(0, address.find(':'));
    if (scheme == "vfio") {
      add("*ExportContract*");
      add(beyond_a_card);
      add("*TimingContract*");  // somebody's memory does not bear any timing
    } else if (scheme == "vfio-user") {
      add("*ExportContract*:*the_locked_memory_limit_holds*");
      add(beyond_a_design);
    } else if (address.find("design=") != std::string::npos) {
      add(beyond_a_design);
    }
  }
  return patterns;
}

}  // namespace

std::vector<std::string> contract_addresses() { return named_addresses(); }

std::vector<std::string> step_locked_addresses() { return {}; }

std::string address_as_name(const ::testing::TestParamInfo<std::string>& info) {
  std::string name = info.param.substr(0, info.param.find(':')) + "_" + std::to_string(info.index);
  std::replace(name.begin(), name.end(), '-', '_');
  return name;
}

Result<std::unique_ptr<board::PcieFunction>> open_board(std::string address, const std::string& options) {
  if (!options.empty()) {
    address += (address.back() == ':' ? "" : ",") + options;
  }
  return open_function(address);
}

}  // namespace datum::test

int main(int count, char** arguments) {
  using namespace datum::test;
  for (int index = 1; index < count; ++index) {
    const std::string_view argument = arguments[index];
    if (argument == "--help" || argument == "-h") {
      std::fputs(usage, stdout);
      return 0;
    }
    if (!argument.starts_with("-")) {
      named_addresses().emplace_back(
          argument.find(':') == std::string_view::npos ? std::string(argument) + ":" : std::string(argument));
    }
  }
  if (named_addresses().empty()) {
    std::fputs(usage, stderr);
    return 64;
  }
  name_plugin();
  ::testing::InitGoogleTest(&count, arguments);
  if (const std::string patterns = left_out(); !patterns.empty()) {
    std::string& filter = ::testing::GTEST_FLAG(filter);
    filter += (filter.find('-') == std::string::npos ? "-" : ":") + patterns;
  }
  return RUN_ALL_TESTS();
}
