// Where the coverage of a Verilated model goes.
#pragma once

#include <atomic>
#include <cstdlib>
#include <filesystem>
#include <string>
#include <unistd.h>
#include <verilated.h>
#include <verilated_cov.h>

namespace datum::rtl_model {

/// Writes what was covered: to the file, or, if `place` is a folder, to a file in it that no other model
/// writes. Nowhere if it is empty.
inline void write_coverage(VerilatedContext& context, const std::string& place) {
  if (place.empty()) {
    return;
  }
  std::error_code error;
  std::string file = place;
  if (std::filesystem::is_directory(place, error)) {
    static std::atomic<unsigned> models{0};
    file += "/" + std::to_string(::getpid()) + "-" + std::to_string(++models) + ".dat";
  }
  context.coveragep()->write(file.c_str());
}

/// The same for the model of a bench, for scripts/coverage-rtl.
inline void write_coverage_of_bench(VerilatedContext& context) {
  const char* const folder = std::getenv("DATUM_TEST_COVERAGE");
  write_coverage(context, folder == nullptr ? "" : folder);
}

}  // namespace datum::rtl_model
