#include "tools/datum/driver_list.hpp"

#include <algorithm>
#include <cstdlib>
#include <fstream>
#include <string_view>
#include <sys/utsname.h>

#include <fmt/format.h>

#include <datum/base/shown_text.hpp>

namespace datum::tool {

namespace {

namespace fs = std::filesystem;

/// Known to loaders by name; no other is found without the variable.
constexpr const char* known_names[] = {"libze_intel_gpu.so.1", "libze_intel_gpu_legacy1.so.1",
                                       "libze_intel_vpu.so.1", "libze_intel_npu.so.1"};

std::vector<std::string> pieces_of(std::string_view text, char separator) {
  std::vector<std::string> pieces;
  while (!text.empty()) {
    const std::size_t end = std::min(text.find(separator), text.size());
    if (end != 0) {
      pieces.emplace_back(text.substr(0, end));
    }
    text.remove_prefix(std::min(end + 1, text.size()));
  }
  return pieces;
}

bool is_same_file(const fs::path& one, const fs::path& other) {
  std::error_code ignored;
  return one == other || fs::equivalent(one, other, ignored);
}

void add_configured_folders(std::vector<fs::path>& folders) {
  std::error_code ignored;
  for (const fs::directory_entry& entry : fs::directory_iterator("/etc/ld.so.conf.d", ignored)) {
    std::ifstream file(entry.path());
    for (std::string line; std::getline(file, line);) {
      if (line.starts_with('/')) {
        folders.emplace_back(line);
      }
    }
  }
}

}  // namespace

std::vector<fs::path> installed_drivers(std::span<const fs::path> folders) {
  std::vector<fs::path> drivers;
  std::error_code ignored;
  for (const char* const name : known_names) {
    const auto folder = std::find_if(folders.begin(), folders.end(), [&](const fs::path& candidate) {
      return fs::is_regular_file(candidate / name, ignored);
    });
    if (folder != folders.end()) {
      drivers.push_back(*folder / name);
    }
  }
  return drivers;
}

std::vector<fs::path> loader_folders() {
  std::vector<fs::path> folders;
  if (const char* const path = std::getenv("LD_LIBRARY_PATH"); path != nullptr) {
    for (std::string& piece : pieces_of(path, ':')) {
      folders.emplace_back(std::move(piece));
    }
  }
  utsname machine{};
  ::uname(&machine);
  for (const char* const root : {"/lib", "/usr/lib", "/usr/local/lib"}) {
    folders.emplace_back(root);
    folders.push_back(fs::path(root) / fmt::format("{}-linux-gnu", machine.machine));
    folders.emplace_back(std::string(root) + "64");
  }
  add_configured_folders(folders);
  return folders;
}

Result<std::vector<std::string>> driver_list(const char* listed, std::span<const fs::path> installed,
                                             const fs::path& own) {
  if (own.string().find(',') != std::string::npos) {
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("the driver lies at '{}'; a comma there would end its entry", shown_text(own.string())),
        "move it to a folder without one");
  }
  std::vector<std::string> drivers;
  if (listed != nullptr) {
    drivers = pieces_of(listed, ',');
  } else {
    std::transform(installed.begin(), installed.end(), std::back_inserter(drivers),
                   [](const fs::path& driver) { return driver.string(); });
  }
  std::erase_if(drivers, [&](const std::string& driver) { return is_same_file(driver, own); });
  drivers.push_back(own.string());
  return drivers;
}

}  // namespace datum::tool
