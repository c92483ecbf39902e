#include "tests/soak/holdings.hpp"

#include <algorithm>
#include <cstdlib>
#include <system_error>

#include "tests/soak/management.hpp"
#include "tests/soak/verdict.hpp"
#include "tests/support/process_resources.hpp"
#include "tests/support/test_run.hpp"

namespace datum::soak {
namespace {

/// Of the driver's names; other programs use the folder, too.
std::int64_t shared_memory_files() {
  std::int64_t count = 0;
  std::error_code error;
  for (const auto& entry : std::filesystem::directory_iterator("/dev/shm", error)) {
    count += entry.path().filename().string().find("datum") != std::string::npos ? 1 : 0;
  }
  return count;
}

}  // namespace

OwnFolder::OwnFolder() {
  std::string name = (std::filesystem::temp_directory_path() / "datum-soak-XXXXXX").string();
  require(::mkdtemp(name.data()) != nullptr, "no folder for temporary files");
  path_ = name;
  for (const char* variable : {"XDG_RUNTIME_DIR", "TMPDIR"}) {
    ::setenv(variable, path_.c_str(), 1);
  }
}

OwnFolder::~OwnFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

std::size_t OwnFolder::entries() const {
  const std::filesystem::recursive_directory_iterator all(path_);
  return static_cast<std::size_t>(std::distance(begin(all), end(all)));
}

Holdings take_holdings(const OwnFolder& folder, std::size_t peers) {
  // Sanitizers keep books of their own in memory, and the C library grows an arena now and then.
  constexpr std::int64_t anything = INT64_MAX / 2;
  const auto of = [](std::size_t count) { return static_cast<std::int64_t>(count); };
  Holdings holdings{};
  holdings[descriptors] = {"descriptors", of(test::open_descriptors()) - of(peers), 4};
  holdings[mappings] = {"mappings", of(test::memory_mappings()), test::sanitized() ? anything : 16};
  holdings[threads] = {"threads", of(test::thread_count()), 0};
  holdings[resident] = {"resident MiB", of(test::resident_bytes() >> 20U), test::sanitized() ? anything : 32};
  holdings[device_bytes] = {"device bytes used", static_cast<std::int64_t>(used_device_bytes()), 0};
  holdings[objects] = {"objects of the API", live_objects(), 0};
  holdings[shared_files] = {"files in /dev/shm", shared_memory_files(), 0};
  holdings[runtime_files] = {"files in the runtime folder", of(folder.entries()), 0};
  return holdings;
}

void keep_most(Holdings& most, const Holdings& now) {
  for (std::size_t i = 0; i < holding_kinds; ++i) {
    if (most[i].name == nullptr || most[i].count < now[i].count) {
      most[i] = now[i];
    }
  }
}

std::string growth(const Holdings& before, const Holdings& now) {
  std::string text;
  for (std::size_t i = 0; i < holding_kinds; ++i) {
    if (now[i].count > before[i].count + now[i].slack) {
      text += std::string(text.empty() ? "" : "; ") + now[i].name + " grew from " +
              std::to_string(before[i].count) + " to " + std::to_string(now[i].count);
    }
  }
  return text;
}

}  // namespace datum::soak
