#include "tests/support/test_run.hpp"

#include <cstdio>
#include <cstdlib>

namespace datum::test {

std::string environment(const char* name, const std::string& otherwise) {
  const char* value = std::getenv(name);
  return value != nullptr ? std::string(value) : otherwise;
}

Mode mode() {
  const std::string name = environment("DATUM_TEST_MODE", "single");
  if (name == "single")
    return Mode::single;
  if (name == "intercept")
    return Mode::intercept;
  if (name == "wrapped")
    return Mode::wrapped;
  if (name == "validation")
    return Mode::validation;
  if (name == "two_drivers")
    return Mode::two_drivers;
  if (name == "two_boards")
    return Mode::two_boards;
  std::fprintf(
      stderr,
      "DATUM_TEST_MODE=%s is none of single, intercept, wrapped, validation, two_drivers, two_boards\n",
      name.c_str());
  std::exit(2);
}

bool under_validation() { return mode() == Mode::validation; }

bool bad_handles_are_survivable() {
  return mode() == Mode::single || mode() == Mode::validation || mode() == Mode::two_boards;
}

bool null_arrays_reach_the_driver() { return mode() != Mode::wrapped; }

bool stale_handles_are_survivable() { return mode() != Mode::wrapped; }

bool on_rtl() { return environment("DATUM_BOARDS").find("rtl:") != std::string::npos; }

unsigned long long test_seed() {
  const std::string text = environment("DATUM_TEST_SEED", "1");
  return std::strtoull(text.c_str(), nullptr, 0);
}

}  // namespace datum::test
