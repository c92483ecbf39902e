// Coverage as Verilator writes it, added up over many models.
#pragma once

#include <cstdint>
#include <map>
#include <string>

#include <datum/base/result.hpp>

namespace datum::tool {

/// Points of the RTL, each with how often it was reached. `verilator_coverage` reads what it writes.
class Coverage {
 public:
  /// Adds what the file has. invalid_argument: it cannot be read, or is not of this kind.
  Status add_file(const std::string& file);
  /// invalid_argument: it cannot be written.
  [[nodiscard]] Status write(const std::string& file) const;

  [[nodiscard]] std::uint64_t points() const noexcept { return counts_.size(); }

  [[nodiscard]] std::uint64_t reached() const noexcept;

 private:
  std::map<std::string, std::uint64_t> counts_;  // by the text that says what the point is
};

}  // namespace datum::tool
