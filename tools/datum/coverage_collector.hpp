// Coverage of the boards of one command, in a folder of its own until they are closed.
#pragma once

#include <string>
#include <utility>

#include <datum/base/result.hpp>

#include "tools/datum/coverage_file.hpp"

namespace datum::tool {

class CoverageCollector {
 public:
  /// Adds to what `file` has, if it is there. invalid_argument: that is no coverage; not_available: there is
  /// no folder to be had.
  static Result<CoverageCollector> create(const std::string& file);
  ~CoverageCollector();
  CoverageCollector(CoverageCollector&& other) noexcept;
  CoverageCollector& operator=(CoverageCollector&&) = delete;
  CoverageCollector(const CoverageCollector&) = delete;
  CoverageCollector& operator=(const CoverageCollector&) = delete;

  /// The address of an rtl: board with a file of its own; any other as it is. Board by board.
  [[nodiscard]] std::string with_coverage(const std::string& address);

  /// Writes the sum of all. The boards are closed.
  Status finish();

  [[nodiscard]] const Coverage& sum() const noexcept { return sum_; }

 private:
  CoverageCollector(std::string file, std::string folder, Coverage before) noexcept
      : file_(std::move(file)), folder_(std::move(folder)), sum_(std::move(before)) {}

  std::string file_;
  std::string folder_;  // empty: moved away
  Coverage sum_;
  unsigned boards_ = 0;
};

}  // namespace datum::tool
