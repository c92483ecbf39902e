#include "tools/datum/doctor.hpp"

#include <algorithm>
#include <cstdio>
#include <cstdlib>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <datum/base/shown_text.hpp>

#include "driver/device/board_addresses.hpp"
#include "tools/datum/driver_checks.hpp"
#include "tools/datum/exit_status.hpp"
#include "tools/datum/machine_checks.hpp"
#include "tools/datum/output.hpp"

namespace datum::tool {

namespace {

using vfio::Check;
using vfio::CheckOutcome;

bool is_of(std::string_view scheme, const std::string& board) {
  return board == scheme || board.starts_with(std::string(scheme) + ':');
}

const char* word_of(CheckOutcome outcome) {
  switch (outcome) {
  case CheckOutcome::passed:
    return "ok";
  case CheckOutcome::warning:
    return "warning";
  case CheckOutcome::failed:
    return "failed";
  case CheckOutcome::skipped:
    return "skipped";
  }
  return "";
}

Colour colour_of(CheckOutcome outcome) {
  switch (outcome) {
  case CheckOutcome::passed:
    return Colour::green;
  case CheckOutcome::warning:
    return Colour::yellow;
  case CheckOutcome::failed:
    return Colour::red;
  case CheckOutcome::skipped:
    return Colour::dim;
  }
  return Colour::none;
}

std::string skipped_finding(const Check& check) {
  return check.finding.empty() ? "an earlier failure leaves nothing to look at" : check.finding;
}

}  // namespace

std::vector<Check> check_card(vfio::Syscalls& syscalls, const std::string& board) {
  const bool card = board.empty() || is_of("vfio", board);
  Result<vfio::CardAddress> address =
      vfio::parse_card_address(board.empty() || !card || board == "vfio" ? "vfio:" : board);
  if (!address) {
    std::vector<Check> checks = vfio::examine_card(syscalls, vfio::CardAddress{});
    for (Check& check : checks) {
      check.outcome = CheckOutcome::skipped;
      check.finding.clear();
      check.cure.clear();
    }
    checks.front().outcome = CheckOutcome::failed;
    checks.front().finding = address.error().message;
    checks.front().cure = address.error().hint;
    return checks;
  }
  std::vector<Check> checks = vfio::examine_card(syscalls, *address);
  if (!card) {
    for (Check& check : checks) {
      check.outcome = CheckOutcome::skipped;
      check.finding = fmt::format("{} is no card", shown_text(board));
      check.cure.clear();
    }
  }
  return checks;
}

int status_of(const std::vector<Check>& checks) {
  const auto any = [&](CheckOutcome outcome) {
    return std::ranges::any_of(checks, [&](const Check& check) { return check.outcome == outcome; });
  };
  return any(CheckOutcome::failed) ? exit_failed : any(CheckOutcome::warning) ? exit_warnings : exit_well;
}

std::string report_text(const std::vector<Check>& checks) {
  std::string text;
  for (const Check& check : checks) {
    const std::string word = fmt::format("{:<8}", word_of(check.outcome));
    text +=
        fmt::format("{:>2}  {} {}: {}\n", check.number, coloured(colour_of(check.outcome), word), check.name,
                    check.outcome == CheckOutcome::skipped ? skipped_finding(check) : check.finding);
    if (!check.cure.empty()) {
      text += fmt::format("    cure: {}\n", check.cure);
    }
  }
  return text;
}

std::string report_json(const std::string& board, const std::vector<Check>& checks) {
  nlohmann::ordered_json object = {
      {"board", board}, {"status", status_of(checks)}, {"checks", nlohmann::ordered_json::array()}};
  for (const Check& check : checks) {
    object["checks"].push_back({{"number", check.number},
                                {"name", check.name},
                                {"outcome", word_of(check.outcome)},
                                {"finding", check.finding},
                                {"cure", check.cure}});
  }
  return object.dump(2, ' ', false, nlohmann::ordered_json::error_handler_t::replace) + '\n';
}

int examine(vfio::Syscalls& syscalls, const std::string& board, bool json) {
  const char* const wish = std::getenv("DATUM_BOARDS");
  const std::string looked_at = !board.empty() ? board : wish != nullptr ? wish : "";
  if (!board.empty()) {
    ::setenv("DATUM_BOARDS", board.c_str(), 1);
  }
  const std::string first = first_board_of(looked_at);
  std::vector<Check> checks = check_card(syscalls, first);
  checks.push_back(check_huge_pages(syscalls));
  for (Check& check : check_driver()) {
    checks.push_back(std::move(check));
  }
  checks.push_back(check_plugin(is_of("rtl", first) || is_of("model", first)));
  checks.push_back(check_ptrace_scope(syscalls));
  fmt::print("{}", json ? report_json(looked_at, checks) : report_text(checks));
  return status_of(checks);
}

}  // namespace datum::tool
