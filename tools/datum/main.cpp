// datum: looks at boards and at the machine that they are in.
#include <cstdio>
#include <exception>
#include <string>

#include <CLI/CLI.hpp>
#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include <datum/base/shown_text.hpp>

#include "tools/datum/binding_commands.hpp"
#include "tools/datum/command_line.hpp"
#include "tools/datum/devices.hpp"
#include "tools/datum/doctor.hpp"
#include "tools/datum/exit_status.hpp"
#include "tools/datum/output.hpp"
#include "vfio_backend/card_address.hpp"

namespace {

constexpr const char* footer = R"text(Exit status:
  0   done; doctor: all is well
  1   doctor: it works, with a limit that is told; regs: something reads all ones; faults: there are some; ecc: words
      were lost
  2   something must be mended, or could not be done
  64  the command line was not understood

Examples:
  datum doctor                     what keeps this machine's card from working
  datum doctor vfio:0000:03:00.0   the same for one card
  DATUM_BOARDS=rtl: datum list     a simulated board, as programs see it
  datum bind 0000:03:00.0 --dry-run    what would be written where
  datum udev-rule > /etc/udev/rules.d/70-datum.rules
  datum info model: --json | jq '.devices[0].memories'
  datum regs read 'PERF_*' --board vfio:0000:03:00.0
  eval "$(datum env --board rtl:)"

'datum COMMAND --help' has more of each.)text";

struct Choice {
  std::string board;
  bool json = false;
  bool environment_as_it_is = false;
};

constexpr const char* doctor_examples = R"text(Examples:
  datum doctor                     this machine's cards
  datum doctor vfio:0000:03:00.0   one card
  datum doctor rtl: --json         a simulated board, for scripts

Status: 0 all is well, 1 it works with a limit that is told, 2 something must be mended.)text";
constexpr const char* list_examples = R"text(Examples:
  datum list                       the boards of DATUM_BOARDS, else the bound cards
  datum list model:memory=16M,rtl: --json)text";
constexpr const char* info_examples = R"text(Examples:
  datum info rtl:
  datum info vfio:0000:03:00.0 --json)text";
constexpr const char* status_examples = R"text(Examples:
  datum status                     every card of this machine
  datum status 0000:03:00.0 --json)text";
constexpr const char* bind_examples = R"text(Examples:
  datum bind 0000:03:00.0 --dry-run    what would be written where
  datum bind 0000:03:00.0 --whole-group)text";
constexpr const char* unbind_examples = R"text(Examples:
  datum unbind 0000:03:00.0 --dry-run
  datum unbind 0000:03:00.0)text";
constexpr const char* rule_examples = R"text(Examples:
  datum udev-rule > /etc/udev/rules.d/70-datum.rules
  datum udev-rule --group fpga)text";

CLI::App* add_board_command(CLI::App& app, const char* name, const char* description, const char* examples,
                            Choice& choice) {
  CLI::App* const command = app.add_subcommand(name, description);
  command->footer(examples);
  command->add_option("ADDRESS", choice.board,
                      "a board: vfio:0000:03:00.0, vfio-user:PATH, rtl:, model: (else DATUM_BOARDS)");
  command->add_flag("--json", choice.json, "print one JSON object");
  return command;
}

/// The commands on the binding of cards; each leaves its exit status in `status`.
void add_binding_commands(CLI::App& app, datum::tool::BindingChoice& choice, std::string& group,
                          int& status) {
  const CLI::Validator pci(
      [](std::string& text) {
        const bool good = text.size() == 12 && datum::vfio::parse_pci_address(text).has_value();
        return good ? std::string{} : "a PCI address is like 0000:03:00.0, not " + datum::shown_text(text);
      },
      "DOMAIN:BUS:DEVICE.FUNCTION");
  const auto add = [&](const char* name, const char* description, const char* examples, auto run) {
    CLI::App* const command = app.add_subcommand(name, description);
    command->footer(examples);
    command->add_option("BDF", choice.pci, "the card's PCI address")
        ->check(pci)
        ->required(std::string(name) != "status");
    command->add_flag("--json", choice.json, "print one JSON object");
    command->callback([&choice, &status, run] { status = run(datum::vfio::kernel_syscalls(), choice); });
    return command;
  };
  add("status", "cards, their drivers and IOMMU groups", status_examples, &datum::tool::show_status);
  CLI::App* const bind = add("bind", "hand a card and its IOMMU group to vfio-pci (as root)", bind_examples,
                             &datum::tool::bind_card);
  bind->add_flag("--whole-group", choice.whole_group, "also take devices of the group that are in use");
  CLI::App* const unbind = add("unbind", "give the group back to the kernel's drivers (as root)",
                               unbind_examples, &datum::tool::unbind_card);
  for (CLI::App* const command : {bind, unbind}) {
    command->add_flag("--dry-run", choice.dry_run, "print the writes and make none");
  }
  CLI::App* const rule = app.add_subcommand("udev-rule", "udev rules for users who are not root");
  rule->add_option("--group", group, "whose members may use cards")->capture_default_str();
  rule->add_flag("--json", choice.json, "print one JSON object");
  rule->footer(rule_examples);
  rule->callback([&] {
    const std::string rules = datum::tool::udev_rules(group);
    if (choice.json) {
      datum::tool::print_json({{"group", group}, {"rules", rules}});
    } else {
      fmt::print("{}", rules);
    }
  });
}

int run(int argc, char** argv) {
  CLI::App app{"Looks at Datum's boards and at the machine that they are in.", "datum"};
  app.footer(footer);
  app.require_subcommand(1);
  app.set_version_flag("--version", "datum " DATUM_VERSION_TEXT);
  app.failure_message(CLI::FailureMessage::simple);
  Choice choice;
  int status = datum::tool::exit_well;
  add_board_command(app, "doctor", "numbered checks of card, machine and driver, each with its cure",
                    doctor_examples, choice)
      ->callback(
          [&] { status = datum::tool::examine(datum::vfio::kernel_syscalls(), choice.board, choice.json); });
  CLI::App* const list =
      add_board_command(app, "list", "a line for each device of the driver", list_examples, choice);
  list->add_flag("--environment-as-it-is", choice.environment_as_it_is)->group("");
  list->callback(
      [&] { status = datum::tool::list_devices(choice.board, choice.json, choice.environment_as_it_is); });
  add_board_command(app, "info", "all that the driver says of its devices", info_examples, choice)
      ->callback([&] { status = datum::tool::show_devices(choice.board, choice.json); });
  datum::tool::BindingChoice binding;
  std::string group = "datum";
  add_binding_commands(app, binding, group, status);
  datum::tool::add_register_commands(app, status);
  datum::tool::add_memory_commands(app, status);
  datum::tool::add_fault_commands(app, status);
  datum::tool::add_memory_error_commands(app, status);
  datum::tool::add_performance_command(app, status);
  datum::tool::add_bench_command(app, status);
  datum::tool::add_cosim_command(app, status);
  datum::tool::add_environment_command(app, status);
  datum::tool::add_run_command(app, status);
  datum::tool::add_view_command(app, status);
  datum::tool::add_server_command(app, status);
  datum::tool::add_completion_command(app, status);
  if (const std::string complaint = datum::tool::unknown_command(app, argc, argv); !complaint.empty()) {
    fmt::print(stderr, "{}\n", complaint);
    return datum::tool::exit_usage;
  }
  try {
    app.parse(argc, argv);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? datum::tool::exit_well : datum::tool::exit_usage;
  }
  return status;
}

}  // namespace

int main(int argc, char** argv) {
  try {
    return run(argc, argv);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "datum: {}\n", failure.what());
    return datum::tool::exit_failed;
  }
}
