#include "tools/datum/driver_checks.hpp"

#include <cstdlib>
#include <dlfcn.h>
#include <optional>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <datum/base/shown_text.hpp>

#include "tools/datum/environment.hpp"
#include "tools/datum/exit_status.hpp"
#include "tools/datum/machine_checks.hpp"

namespace datum::tool {

namespace {

using vfio::Check;
using vfio::CheckOutcome;

/// Far above what a simulated board takes to start on a busy machine.
constexpr std::chrono::seconds child_limit{60};
constexpr std::string_view driver_prefix = "datum: ";

void pass(Check& check, std::string finding) {
  check.outcome = CheckOutcome::passed;
  check.finding = std::move(finding);
}

void fail(Check& check, std::string finding, std::string cure) {
  check.outcome = CheckOutcome::failed;
  check.finding = std::move(finding);
  check.cure = std::move(cure);
}

/// The driver's own words, a sentence for each board that it could not use; empty: it did not speak, and if
/// it declined it was not loaded.
std::string words_of_driver(const std::string& errors) {
  std::string words;
  for (std::size_t at = 0; at < errors.size();) {
    const std::size_t end = std::min(errors.find('\n', at), errors.size());
    const std::string line = errors.substr(at, end - at);
    if (line.starts_with(driver_prefix)) {
      words += (words.empty() ? "" : "; ") + line.substr(driver_prefix.size());
    }
    at = end + 1;
  }
  return words;
}

using DriverAnswer = nlohmann::json;

DriverAnswer parsed(const std::string& output) {
  DriverAnswer object = DriverAnswer::parse(output, nullptr, false);
  return object.is_object() ? object : DriverAnswer::object();
}

std::string message_of(const DriverAnswer& object, const char* member) {
  const auto error = object.find("error");
  return error != object.end() && error->is_object() ? error->value(member, "") : std::string{};
}

std::string names_of(const DriverAnswer& devices) {
  std::string names;
  for (const DriverAnswer& device : devices) {
    names += fmt::format("{}{}", names.empty() ? "" : ", ", device.value("name", "?"));
  }
  return names;
}

/// How the child failed when neither driver nor loader said anything.
std::string failure_of(const ChildEnd& end, const char* driver_list) {
  const std::string list = driver_list == nullptr
                               ? "ZE_ENABLE_ALT_DRIVERS is not set"
                               : fmt::format("ZE_ENABLE_ALT_DRIVERS is '{}'", shown_text(driver_list));
  if (!end.started) {
    return "a process for the attempt could not be started";
  }
  if (end.timed_out) {
    return fmt::format("a Level Zero program hangs; {}", list);
  }
  if (end.signal != 0) {
    return fmt::format("a Level Zero program ends by signal {}; {}", end.signal, list);
  }
  return fmt::format("the loader does not find the driver; {}", list);
}

/// Where the boards were named, naming some is no cure; naming others is.
std::string cure_of_boards(const char* boards) {
  if (boards == nullptr || *boards == '\0') {
    return "mend what the checks above say of the card, or take a simulated board: export DATUM_BOARDS=rtl:";
  }
  constexpr std::string_view card_scheme = "vfio:";
  return fmt::format(
      "{}in place of '{}' name a board that there is: rtl: or model: is a simulated one; docs/simulation.md "
      "lists their options, 'datum status' the cards",
      std::string_view(boards).starts_with(card_scheme) ? "mend what the checks above say of the card, or "
                                                        : "",
      shown_text(boards));
}

}  // namespace

std::vector<Check> judge_child(const ChildEnd& end, const char* driver_list, const char* boards) {
  Check found = blank_check(FurtherCheck::loader_finds_driver);
  Check opened = blank_check(FurtherCheck::driver_opens_board);
  const bool ended = end.started && !end.timed_out && end.signal == 0;
  const DriverAnswer object = parsed(end.output);
  const std::string words = words_of_driver(end.errors);
  const auto devices = object.find("devices");
  if (ended && end.exit_status == exit_well && devices != object.end() && devices->is_array() &&
      !devices->empty()) {
    pass(found, "the loader finds the driver");
    pass(opened, fmt::format("{} device{}: {}", devices->size(), devices->size() == 1 ? "" : "s",
                             names_of(*devices)));
    if (!words.empty()) {
      opened.outcome = CheckOutcome::warning;
      opened.finding += "; the driver says: " + words;
    }
  } else if (ended && !words.empty()) {
    pass(found, "the loader finds the driver");
    fail(opened, words, cure_of_boards(boards));
  } else if (const std::string no_loader = message_of(object, "message");
             ended && !no_loader.empty() && no_loader.find("loader cannot be") != std::string::npos) {
    fail(found, no_loader, message_of(object, "hint"));
  } else {
    fail(found, failure_of(end, driver_list), driver_list_cure());
  }
  return {found, opened};
}

std::vector<Check> check_driver() {
  const char* const list = std::getenv("ZE_ENABLE_ALT_DRIVERS");
  if (const Status good = check_driver_list(list); !good) {
    Check found = blank_check(FurtherCheck::loader_finds_driver);
    fail(found, good.error().message, good.error().hint);
    return {found, blank_check(FurtherCheck::driver_opens_board)};
  }
  return judge_child(run_self({"list", "--json", "--environment-as-it-is"}, child_limit), list,
                     std::getenv("DATUM_BOARDS"));
}

Check check_plugin(bool needed) {
  Check check = blank_check(FurtherCheck::plugin_found);
  const char* const named = std::getenv("DATUM_SIM_PLUGIN");
  const std::optional<std::filesystem::path> beside = plugin_beside_driver();
  const std::string path = named != nullptr && *named != '\0' ? std::string(named)
                           : beside                           ? beside->string()
                                                              : std::string{};
  void* const library = path.empty() ? nullptr : ::dlopen(path.c_str(), RTLD_NOW | RTLD_LOCAL);
  if (library != nullptr) {
    pass(check, fmt::format("{} can be loaded", path));
    ::dlclose(library);
    return check;
  }
  const std::string finding =
      path.empty() ? std::string("libdatum_sim.so lies neither beside the driver nor beside this program")
                   : fmt::format("the simulation plugin cannot be loaded: {}", ::dlerror());
  if (needed) {
    fail(check, finding, "install it beside libze_datum.so, or name it in DATUM_SIM_PLUGIN");
  } else {
    check.finding = finding + "; only rtl: and model: boards need it";
  }
  return check;
}

}  // namespace datum::tool
