// datum cosim: random programs on two boards, held against each other and against the host.
#include <algorithm>
#include <cstdio>
#include <memory>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <datum/base/shown_text.hpp>

#include "cosim/comparison.hpp"
#include "driver/device/board_addresses.hpp"
#include "tools/datum/command_line.hpp"
#include "tools/datum/cosim_evidence.hpp"
#include "tools/datum/cosim_result.hpp"
#include "tools/datum/coverage_collector.hpp"
#include "tools/datum/exit_status.hpp"
#include "tools/datum/open_board.hpp"
#include "tools/datum/output.hpp"
#include "tools/datum/output_file.hpp"

namespace datum::tool {

namespace {

struct CosimChoice {
  std::string boards = "model:,rtl:";
  std::uint64_t seed = 1;
  std::uint64_t programs = 100;
  bool shrinks = false;
  bool json = false;
  std::string junit;
  std::string trace;
  std::string waveform;
  std::string coverage;
};

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

/// What cannot be is told before the work and not after an hour of it.
Status check_choice(const CosimChoice& choice) {
  if (Status good = check_board_schemes(choice.boards); !good) {
    return good;
  }
  for (const auto& [option, file] :
       {std::pair{"--trace", &choice.trace}, std::pair{"--waveform", &choice.waveform},
        std::pair{"--coverage", &choice.coverage}}) {
    if (Status good = file->empty() ? Status{} : check_output_file(option, *file); !good) {
      return good;
    }
  }
  if (choice.waveform.find(',') != std::string::npos) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("--waveform: '{}' has a comma, which ends an option of a board",
                                  shown_text(choice.waveform)),
                      "name a file without one");
  }
  const std::vector<std::string> addresses = addresses_of(choice.boards);
  if ((!choice.waveform.empty() || !choice.coverage.empty()) &&
      std::ranges::none_of(addresses, is_rtl_address)) {
    return make_error(ErrorCode::unsupported_feature,
                      fmt::format("{} needs an rtl: board, and the boards are '{}'",
                                  choice.waveform.empty() ? "--coverage" : "--waveform",
                                  shown_text(choice.boards)),
                      "add one to --boards");
  }
  return choice.junit.empty() ? Status{} : write_output_file(choice.junit, {});
}

Result<CosimResult> run_on(const CosimChoice& choice, CoverageCollector* coverage) {
  CosimResult result;
  result.first_seed = choice.seed;
  result.boards = addresses_of(choice.boards);
  std::vector<OpenBoard> open;
  std::vector<board::PcieFunction*> functions;
  for (const std::string& address : result.boards) {
    Result<OpenBoard> board = open_board(coverage == nullptr ? address : coverage->with_coverage(address));
    if (!board) {
      return std::move(board).error();
    }
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
  if (result.finding) {
    result.finding->board = result.boards[result.finding->board_index];
    if (!choice.trace.empty()) {
      if (Status written = write_timeline_of(result, functions, choice.trace); !written) {
        return std::move(written).error();
      }
    }
    if (!choice.waveform.empty()) {
      write_waveform_of(result, choice.waveform);
    }
  }
  return result;
}

/// With coverage, which is there when the boards are closed.
Result<CosimResult> run_programs(const CosimChoice& choice) {
  if (choice.coverage.empty()) {
    return run_on(choice, nullptr);
  }
  Result<CoverageCollector> collector = CoverageCollector::create(choice.coverage);
  if (!collector) {
    return std::move(collector).error();
  }
  Result<CosimResult> result = run_on(choice, &*collector);
  if (!result) {
    return result;
  }
  if (Status written = collector->finish(); !written) {
    return std::move(written).error();
  }
  result->coverage = CosimCoverage{choice.coverage, collector->sum().points(), collector->sum().reached()};
  return result;
}

std::string repeating(const CosimChoice& choice, std::uint64_t seed) {
  return fmt::format("datum cosim --boards '{}' --seed {} --programs 1{}", choice.boards, seed,
                     choice.shrinks ? " --shrink" : "");
}

int run_cosim(const CosimChoice& choice) {
  if (const Status good = check_choice(choice); !good) {
    return tell_failure(good.error(), choice.json);
  }
  const Result<CosimResult> result = run_programs(choice);
  if (!result) {
    return tell_failure(result.error(), choice.json);
  }
  if (!choice.junit.empty()) {
    if (const Status written = write_output_file(choice.junit, junit_of(*result, choice.boards)); !written) {
      return tell_failure(written.error(), choice.json);
    }
  }
  if (choice.json) {
    print_json(json_of(*result));
  } else {
    fmt::print("{}", text_of(*result, repeating(choice, result->finding ? result->finding->seed : 0)));
  }
  return result->finding ? exit_warnings : exit_well;
}

constexpr const char* cosim_examples = R"(Examples:
  datum cosim
  datum cosim --boards model:,rtl:design=my_accelerator,step --seed 7 --programs 1000 --shrink
  datum cosim --boards rtl:step,backpressure=40,vfio-user:/run/board --junit cosim.xml
  datum cosim --shrink --trace difference.json --waveform difference.fst
  datum cosim --boards rtl:step --programs 200 --coverage all.dat

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
      ->check(CLI::Range(1, 1'000'000'000));
  cosim->add_flag("--shrink", choice->shrinks, "look for the shortest program that still fails");
  cosim->add_option("-t,--trace", choice->trace,
                    "a file for a timeline of the shortest program that fails (JSON)");
  cosim->add_option("-w,--waveform", choice->waveform,
                    "a file for a waveform of the difference, where an rtl: board fails (FST)");
  cosim->add_option("--coverage", choice->coverage,
                    "a file that the coverage of all rtl: boards is added to, by all programs");
  cosim->add_option("--junit", choice->junit, "a file for the result as JUnit has it");
  cosim->add_flag("--json", choice->json, "print JSON");
  cosim->callback([choice, &status] { status = run_cosim(*choice); });
}

}  // namespace datum::tool
