#include "tools/datum/coverage_collector.hpp"

#include <cerrno>
#include <cstdlib>
#include <cstring>
#include <filesystem>
#include <system_error>
#include <utility>

#include <fmt/format.h>

#include "tools/datum/cosim_evidence.hpp"

namespace datum::tool {

Result<CoverageCollector> CoverageCollector::create(const std::string& file) {
  std::error_code ignored;
  Coverage before;
  if (std::filesystem::exists(file, ignored)) {
    if (Status added = before.add_file(file); !added) {
      return std::move(added).error();
    }
  }
  std::string folder = (std::filesystem::temp_directory_path(ignored) / "datum-coverage-XXXXXX").string();
  if (::mkdtemp(folder.data()) == nullptr) {
    return Error{ErrorCode::not_available, errno,
                 fmt::format("there is no room for coverage in '{}': {}", folder, std::strerror(errno)),
                 "name a folder that you may write in TMPDIR"};
  }
  return CoverageCollector(file, std::move(folder), std::move(before));
}

CoverageCollector::CoverageCollector(CoverageCollector&& other) noexcept
    : file_(std::move(other.file_)),
      folder_(std::exchange(other.folder_, {})),
      sum_(std::move(other.sum_)),
      boards_(other.boards_) {}

CoverageCollector::~CoverageCollector() {
  if (!folder_.empty()) {
    std::error_code ignored;
    std::filesystem::remove_all(folder_, ignored);
  }
}

std::string CoverageCollector::with_coverage(const std::string& address) {
  return is_rtl_address(address) ? with_option(address, fmt::format("coverage={}/{}.dat", folder_, boards_++))
                                 : address;
}

Status CoverageCollector::finish() {
  std::error_code ignored;
  for (const auto& entry : std::filesystem::directory_iterator(folder_, ignored)) {
    if (Status added = sum_.add_file(entry.path().string()); !added) {
      return added;
    }
  }
  return sum_.write(file_);
}

}  // namespace datum::tool
