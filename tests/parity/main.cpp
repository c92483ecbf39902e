// Random programs on golden model and RTL: both must leave the bytes that the same program leaves on the
// host.
#include <chrono>
#include <cstdio>
#include <cstdlib>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "cosim/program.hpp"
#include "cosim/shrink.hpp"
#include "tests/parity/board_run.hpp"
#include "tests/support/result_text.hpp"
#include "tests/support/test_run.hpp"

namespace {

using namespace datum;
using cosim::Memory;
using cosim::Program;

struct Boards {
  ze_driver_handle_t driver = nullptr;
  std::vector<ze_device_handle_t> devices;
  std::vector<std::string> names;
  std::string failure;
};

Boards open_boards() {
  Boards boards;
  std::uint32_t count = 1;
  ze_result_t result = zeInit(0);
  if (result == ZE_RESULT_SUCCESS) {
    result = zeDriverGet(&count, &boards.driver);
  }
  std::uint32_t devices = 0;
  if (result == ZE_RESULT_SUCCESS) {
    result = zeDeviceGet(boards.driver, &devices, nullptr);
  }
  boards.devices.resize(devices);
  if (result == ZE_RESULT_SUCCESS) {
    result = zeDeviceGet(boards.driver, &devices, boards.devices.data());
  }
  for (const ze_device_handle_t device : boards.devices) {
    ze_device_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    if (zeDeviceGetProperties(device, &properties) == ZE_RESULT_SUCCESS) {
      boards.names.emplace_back(properties.name);
    }
  }
  if (result != ZE_RESULT_SUCCESS) {
    boards.failure =
        fmt::format("no boards: {} (ZE_ENABLE_ALT_DRIVERS={}, DATUM_BOARDS={})", test::result_text(result),
                    test::environment("ZE_ENABLE_ALT_DRIVERS"), test::environment("DATUM_BOARDS"));
  }
  return boards;
}

/// The first difference, in words; empty: none. With the last operation that wrote there.
std::string difference(const Program& program, const Memory& expected, const Memory& found) {
  const auto different = cosim::first_difference(expected, found);
  if (!different) {
    return {};
  }
  const auto [buffer, at] = different->spot;
  const std::string text = fmt::format("buffer {} + {}: expected 0x{:02x}, found 0x{:02x}", buffer, at,
                                       different->expected, different->found);
  for (unsigned limit = static_cast<unsigned>(program.operations.size()); limit > 0; --limit) {
    const Memory before = limit == 1 ? cosim::initial_memory(program)
                                     : run_on_host(cosim::make_program(program.seed, limit - 1));
    if (before[buffer][at] != expected[buffer][at]) {
      return text + fmt::format("; last changed by\n  {}", describe(program, limit - 1));
    }
  }
  return text;
}

/// Why the program fails on one of the boards; empty: it does not.
std::string failure_of(const Program& program, const Boards& boards) {
  const Memory expected = run_on_host(program);
  for (std::size_t board = 0; board < boards.devices.size(); ++board) {
    const parity::BoardOutcome outcome = parity::run_on_board(program, boards.driver, boards.devices[board]);
    const std::string what =
        outcome.failure.empty() ? difference(program, expected, outcome.memory) : outcome.failure;
    if (!what.empty()) {
      return fmt::format("board {} ({}): {}", board, boards.names[board], what);
    }
  }
  return {};
}

unsigned programs_by_effort() {
  const std::string effort = test::environment("DATUM_TEST_EFFORT", "quick");
  return effort == "all" ? 3000 : effort == "ci" ? 300 : effort == "newcomer" ? 200 : 40;
}

}  // namespace

int main(int argument_count, char** arguments) {
  CLI::App app{"Runs random programs on the boards of DATUM_BOARDS and on the host, and compares memory byte "
               "for byte."};
  std::uint64_t seed = test::test_seed();
  unsigned programs = programs_by_effort();
  unsigned operations = 0;
  bool print_programs = false;
  app.add_option("--seed", seed, "seed of the first program (default: DATUM_TEST_SEED, else 1)");
  app.add_option("--programs", programs, "how many programs, one seed each (default by DATUM_TEST_EFFORT)");
  app.add_option("--operations", operations, "only the first operations of each program");
  app.add_flag("--print", print_programs, "print each program before it runs");
  CLI11_PARSE(app, argument_count, arguments);

  ::setenv("DATUM_BOARDS", fmt::format("model:seed={0},rtl:seed={0}", seed).c_str(), 0);
  const Boards boards = open_boards();
  if (!boards.failure.empty()) {
    fmt::print(stderr, "datum_parity: {}\n", boards.failure);
    return 2;
  }
  fmt::print("{} programs from seed {} on {} boards: {}\n", programs, seed, boards.devices.size(),
             test::environment("DATUM_BOARDS"));
  const auto start = std::chrono::steady_clock::now();
  std::size_t done = 0;
  for (unsigned index = 0; index < programs; ++index) {
    const Program program = cosim::make_program(seed + index, operations);
    if (print_programs) {
      fmt::print("{}", describe(program));
    }
    const std::string failure = failure_of(program, boards);
    if (!failure.empty()) {
      const unsigned least = cosim::shortest_beginning(
          program, [&](const Program& shorter) { return !failure_of(shorter, boards).empty(); });
      fmt::print(stderr,
                 "datum_parity: program {} failed\n{}\nrepeat with: DATUM_BOARDS='{}' datum_parity --seed {} "
                 "--programs 1 --operations {} --print\n",
                 seed + index, failure, test::environment("DATUM_BOARDS"), seed + index, least);
      return 1;
    }
    done += program.operations.size();
  }
  const std::chrono::duration<double> passed = std::chrono::steady_clock::now() - start;
  fmt::print("{} operations agree byte for byte, {:.1f} s\n", done, passed.count());
  return 0;
}
