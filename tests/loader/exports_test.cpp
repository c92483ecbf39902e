// The symbols of a driver library: what it shows to others, and what it takes from them.

#include <algorithm>
#include <sstream>
#include <string>
#include <vector>

#include <gtest/gtest.h>

#include "tests/loader/api_entries.hpp"
#include "tests/loader/program_run.hpp"

namespace datum::test {
namespace {

struct Symbol {
  std::string name;
  std::string kind;  ///< the letter of nm: T a function, u one that is unique in the process, U one that
                     ///< others must have
};

bool operator==(const Symbol& left, const Symbol& right) {
  return left.name == right.name && left.kind == right.kind;
}

void PrintTo(const Symbol& symbol, std::ostream* output) { *output << symbol.kind << " " << symbol.name; }

std::vector<Symbol> dynamic_symbols(const std::string& kind) {
  const ProgramRun nm = run_program(DATUM_NM, {"-D", "--format=posix", kind, DATUM_TESTED_LIBRARY}, {});
  EXPECT_EQ(nm.exit_status, 0) << nm.output;
  std::vector<Symbol> symbols;
  std::istringstream lines(nm.output);
  for (std::string line; std::getline(lines, line);) {
    Symbol symbol;
    std::istringstream(line) >> symbol.name >> symbol.kind;
    symbols.push_back(symbol);
  }
  std::ranges::sort(symbols, {}, &Symbol::name);
  return symbols;
}

TEST(DriverSymbols,
     given_the_library_when_its_exports_are_listed_then_they_are_the_76_functions_that_fill_tables) {
  std::vector<Symbol> expected;
  for (const ApiTable& table : api_tables()) {
    expected.push_back({std::string(table.getter), "T"});
  }
  std::ranges::sort(expected, {}, &Symbol::name);
  ASSERT_EQ(expected.size(), 76u);
  EXPECT_EQ(dynamic_symbols("--defined-only"), expected);
}

TEST(DriverSymbols, given_the_library_when_its_imports_are_listed_then_none_is_a_function_of_level_zero) {
  for (const Symbol& symbol : dynamic_symbols("--undefined-only")) {
    EXPECT_FALSE(symbol.name.starts_with("ze")) << symbol.name << " would be taken from the loader";
  }
}

TEST(DriverSymbols, given_the_library_when_its_imports_are_listed_then_nothing_of_it_is_destroyed_at_exit) {
  for (const Symbol& symbol : dynamic_symbols("--undefined-only")) {
    EXPECT_FALSE(symbol.name.starts_with("__cxa_atexit") || symbol.name.starts_with("atexit") ||
                 symbol.name.starts_with("__cxa_thread_atexit"))
        << symbol.name << ": a static object would be gone while programs still call the driver";
  }
}

}  // namespace
}  // namespace datum::test
