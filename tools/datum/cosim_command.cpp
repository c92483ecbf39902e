// datum cosim: random programs on two boards, held against each other and against the host.
#include <cerrno>
#include <cstdio>
#include <cstring>
#include <fstream>
#include <memory>
#include <optional>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <datum/base/shown_text.hpp>

#include "cosim/comparison.hpp"
#include "driver/device/board_addresses.hpp"
#include "tools/datum/command_line.hpp"
#include "tools/datum/exit_status.hpp"
#include "tools/datum/open_board.hpp"
#include "tools/datum/output.hpp"

namespace datum::tool {

namespace {

using Json = nlohmann::ordered_json;

struct CosimChoice {
  std::string boards = "model:,rtl:";
  std::uint64_t seed = 1;
  std::uint64_t programs = 100;
  bool shrinks = false;
  bool json = false;
  std::string junit;
};

/// What a run has come to.
struct CosimResult {
  std::vector<std::string> boards;
  std::vector<std::uint64_t> agreed;  ///< seeds
  std::uint64_t operations = 0;
  std::optional<cosim::Finding> finding;
};

Json to_json(const cosim::Finding& finding) {
  Json json{{"seed", finding.seed},
            {"board", finding.board},
            {"failure", finding.failure},
            {"operations", finding.operations},
            {"shortest_operations", finding.shortest.operations.size()},
            {"shortest", cosim::describe(finding.shortest)}};
  if (finding.place) {
    const cosim::WrongPlace& place = *finding.place;
    Json words = Json::array();
    for (const std::uint64_t word : place.descriptor.words) {
      words.push_back(fmt::format("{:#018x}", word));
    }
    json["place"] = {{"operation", place.operation},
                     {"text", cosim::describe(finding.shortest, place.operation)},
                     {"descriptor", words},
                     {"memory", place.memory},
                     {"address", place.address},
                     {"expected", place.difference.expected},
                     {"found", place.difference.found},
                     {"first_cycle", place.first_cycle},
                     {"last_cycle", place.last_cycle}};
  } else {
    json["place"] = nullptr;
  }
  return json;
}

std::string xml_text(std::string_view text) {
  std::string escaped;
  for (const char letter : text) {
    switch (letter) {
    case '&':
      escaped += "&amp;";
      break;
    case '<':
      escaped += "&lt;";
      break;
    case '>':
      escaped += "&gt;";
      break;
    case '"':
      escaped += "&quot;";
      break;
    default:
      escaped += letter;
    }
  }
  return escaped;
}

/// A test case for each program, as build servers read them.
std::string junit_of(const CosimResult& result, const std::string& boards) {
  std::string cases;
  const auto begin_case = [&](std::uint64_t seed) {
    return fmt::format("  <testcase classname=\"{}\" name=\"seed {}\"", xml_text(boards), seed);
  };
  for (const std::uint64_t seed : result.agreed) {
    cases += begin_case(seed) + "/>\n";
  }
  if (result.finding) {
    cases += begin_case(result.finding->seed) +
             fmt::format("><failure message=\"{}\">{}</failure></testcase>\n",
                         xml_text(result.finding->failure), xml_text(cosim::describe(*result.finding)));
  }
  return fmt::format(
      "<?xml version=\"1.0\" encoding=\"UTF-8\"?>\n<testsuite name=\"datum cosim\" tests=\"{}\" "
      "failures=\"{}\">\n{}</testsuite>\n",
      result.agreed.size() + (result.finding ? 1 : 0), result.finding ? 1 : 0, cases);
}

Status write_report(const std::string& name, const std::string& text) {
  std::ofstream file(name, std::ios::trunc);
  file << text;
  file.close();
  if (!file) {
    return Error{ErrorCode::invalid_argument,
                 errno,
                 fmt::format("'{}' cannot be written: {}", shown_text(name), std::strerror(errno)),
                 {}};
  }
  return {};
}

/// Each with its options.
std::vector<std::string> addresses_of(std::string_view list) {
  std::vector<std::string> addresses;
  for (bool more = true; more;) {
    const std::size_t comma = list.find(',');
    const std::string_view piece = list.substr(0, comma);
    if (addresses.empty() || begins_board_address(piece)) {
      addresses.emplace_back(piece);
    } else {
      addresses.back() += fmt::format(",{}", piece);
    }
    more = comma != std::string_view::npos;
    list.remove_prefix(more ? comma + 1 : list.size());
  }
  return addresses;
}

Result<CosimResult> run_programs(const CosimChoice& choice) {
  if (Status good = check_board_schemes(choice.boards); !good) {
    return std::move(good).error();
  }
  CosimResult result;
  std::vector<OpenBoard> open;
  std::vector<board::PcieFunction*> functions;
  for (const std::string& address : addresses_of(choice.boards)) {
    Result<OpenBoard> board = open_board(address);
    if (!board) {
      return std::move(board).error();
    }
    result.boards.push_back(board->address());
    functions.push_back(board->function.get());
    open.push_back(std::move(board).value());
  }
  for (std::uint64_t index = 0; index < choice.programs && !result.finding; ++index) {
    const cosim::Program program = cosim::make_program(choice.seed + index);
    result.finding = cosim::compare(program, functions, choice.shrinks);
    if (!result.finding) {
      result.agreed.push_back(program.seed);
      result.operations += program.operations.size();
    }
  }
  return result;
}

int run_cosim(const CosimChoice& choice) {
  if (!choice.junit.empty()) {  // not after an hour of work
    if (const Status writable = write_report(choice.junit, {}); !writable) {
      return tell_failure(writable.error(), choice.json);
    }
  }
  const Result<CosimResult> result = run_programs(choice);
  if (!result) {
    return tell_failure(result.error(), choice.json);
  }
  if (!choice.junit.empty()) {
    if (const Status written = write_report(choice.junit, junit_of(*result, choice.boards)); !written) {
      return tell_failure(written.error(), choice.json);
    }
  }
  const auto& finding = result->finding;
  if (choice.json) {
    print_json({{"boards", result->boards},
                {"seed", choice.seed},
                {"programs", result->agreed.size() + (finding ? 1 : 0)},
                {"operations", result->operations},
                {"difference", finding ? to_json(*finding) : Json()}});
  } else if (finding) {
    fmt::print("{}repeat with: datum cosim --boards '{}' --seed {} --programs 1{}\n",
               cosim::describe(*finding), choice.boards, finding->seed, choice.shrinks ? " --shrink" : "");
  } else {
    fmt::print("{} programs, {} operations: {} boards agree byte for byte\n", result->agreed.size(),
               result->operations, result->boards.size());
  }
  return finding ? exit_warnings : exit_well;
}

constexpr const char* cosim_examples = R"(Examples:
  datum cosim
  datum cosim --boards model:,rtl:design=my_accelerator,step --seed 7 --programs 1000 --shrink
  datum cosim --boards rtl:step,backpressure=40,vfio-user:/run/board --junit cosim.xml

A program is drawn from its seed, the next one from the next. It is copies, fills, copies of boxes and barriers on
several rings, with waits between them, in device, on-chip and host memory, and runs straight on the boards, without the
driver. All boards must leave the bytes that the program leaves on the host. The first that does not ends the run, with
status 1. With a board that is step-locked (the option step) a seed repeats every cycle.)";

}  // namespace

void add_cosim_command(CLI::App& app, int& status) {
  const auto choice = std::make_shared<CosimChoice>();
  CLI::App* const cosim = app.add_subcommand("cosim", "random programs on two boards, which must agree");
  cosim->footer(cosim_examples);
  cosim->add_option("--boards", choice->boards, "addresses, separated by commas")->capture_default_str();
  cosim->add_option("--seed", choice->seed, "of the first program")->capture_default_str();
  cosim->add_option("--programs", choice->programs, "how many")
      ->capture_default_str()
      ->check(CLI::PositiveNumber);
  cosim->add_flag("--shrink", choice->shrinks, "look for the shortest program that still fails");
  cosim->add_option("--junit", choice->junit, "a file for the result as JUnit has it");
  cosim->add_flag("--json", choice->json, "print JSON");
  cosim->callback([choice, &status] { status = run_cosim(*choice); });
}

}  // namespace datum::tool
