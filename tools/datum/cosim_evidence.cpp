#include "tools/datum/cosim_evidence.hpp"

#include <utility>

#include <fmt/format.h>

#include "cosim/program_trace.hpp"
#include "tools/datum/open_board.hpp"
#include "tools/datum/output_file.hpp"

namespace datum::tool {

namespace {

using cosim::Finding;
using cosim::ProgramTrace;

/// What follows the descriptor: its record, its interrupt.
constexpr std::uint64_t cycles_behind = 1000;
constexpr std::uint64_t cycles_before_the_end = 100'000;

/// The run that shows the difference.
ProgramTrace::Order order_of(const Finding& finding) {
  return finding.place ? ProgramTrace::Order::one_by_one : ProgramTrace::Order::as_it_is;
}

}  // namespace

std::string with_option(const std::string& address, const std::string& option) {
  const bool has_scheme_alone = address.find(':') == std::string::npos;
  const char* const separator = has_scheme_alone ? ":" : address.ends_with(':') ? "" : ",";
  return address + separator + option;
}

bool is_rtl_address(const std::string& address) { return address.substr(0, address.find(':')) == "rtl"; }

std::string waveform_window(const Finding& finding) {
  if (!finding.place) {
    return fmt::format("wave_last={}", cycles_before_the_end);
  }
  // One by one, operations are the descriptors of ring 0, whose numbers begin at 1.
  return fmt::format("wave_on=descriptor:{}@0,wave_next={}", finding.place->operation + 1,
                     finding.place->last_cycle - finding.place->first_cycle + cycles_behind);
}

Status write_timeline_of(CosimResult& result, std::span<board::PcieFunction* const> boards,
                         const std::string& file) {
  Finding& finding = *result.finding;
  ProgramTrace trace(finding.shortest, order_of(finding));
  for (std::size_t index = 0; index < boards.size(); ++index) {
    ProgramTrace::Outcome outcome = trace.run(*boards[index], result.boards[index]);
    if (index == finding.board_index && outcome.place) {
      finding.place = std::move(outcome.place);
    }
  }
  Status written = trace.write(file);
  if (written) {
    result.evidence.timeline = file;
  }
  return written;
}

void write_waveform_of(CosimResult& result, const std::string& file) {
  const Finding& finding = *result.finding;
  const std::string& address = result.boards[finding.board_index];
  CosimEvidence& evidence = result.evidence;
  if (!is_rtl_address(address)) {
    evidence.waveform_failure = fmt::format("none: {} is no rtl: board", address);
    return;
  }
  evidence.waveform_options = waveform_window(finding);
  const std::string options = fmt::format("wave={},{}", absolute_path(file), evidence.waveform_options);
  const Result<OpenBoard> board = open_board(with_option(address, options));
  if (!board) {
    evidence.waveform_failure = fmt::format("none: {}", board.error().message);
    return;
  }
  evidence.waveform = file;
  ProgramTrace again(finding.shortest, order_of(finding));
  const ProgramTrace::Outcome outcome = again.run(*board->function, address);
  const bool shows = finding.place ? outcome.place && outcome.place->operation == finding.place->operation
                                   : !outcome.failure.empty();
  if (finding.place && !shows) {
    evidence.waveform_failure = "the board does what it should while it is recorded";
  }
}

}  // namespace datum::tool
