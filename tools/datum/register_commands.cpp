// datum regs: list, read, write, watch, dump.
#include <chrono>
#include <cstdio>
#include <memory>
#include <thread>

#include <fmt/format.h>

#include "tools/datum/command_line.hpp"
#include "tools/datum/exit_status.hpp"
#include "tools/datum/output.hpp"
#include "tools/datum/register_values.hpp"
#include "tools/datum/register_watch.hpp"
#include "tools/datum/register_writes.hpp"

namespace datum::tool {

namespace {

using Json = nlohmann::ordered_json;

struct RegisterChoice : BoardChoice {
  std::vector<std::string> names;
  bool all = false;
  WatchPlan watch;
};

/// The registers that `names` name, in order; all where there is no name.
Result<std::vector<RegisterSelection>> select(const std::vector<std::string>& names) {
  std::vector<RegisterSelection> selections;
  for (const std::string& name : names.empty() ? std::vector<std::string>{"*"} : names) {
    Result<RegisterSelection> selection = find_registers(name);
    if (!selection) {
      return std::move(selection).error();
    }
    selections.push_back(std::move(selection).value());
  }
  return selections;
}

std::vector<RegisterPlace> places_of(const std::vector<RegisterSelection>& selections) {
  std::vector<RegisterPlace> places;
  for (const RegisterSelection& selection : selections) {
    places.insert(places.end(), selection.places.begin(), selection.places.end());
  }
  return places;
}

Json description_json(const hw::RegisterInfo& info) {
  Json object = {{"name", info.name},
                 {"block", info.block},
                 {"offset", info.offset},
                 {"count", info.count},
                 {"stride_bytes", info.stride_bytes},
                 {"width_bits", info.width_bits},
                 {"access", access_text(info.access)},
                 {"description", description_of(info)},
                 {"fields", Json::array()}};
  for (const hw::FieldInfo* field : fields_of(info)) {
    object["fields"].push_back({{"name", field->name},
                                {"low_bit", field->low_bit},
                                {"width_bits", field->width_bits},
                                {"description", field->description}});
  }
  return object;
}

int list_registers(const RegisterChoice& choice) {
  const auto selections = select(choice.names);
  if (!selections) {
    return tell_failure(selections.error(), choice.json);
  }
  Json list = Json::array();
  for (const RegisterPlace& place : places_of(*selections)) {
    const hw::RegisterInfo& info = *place.info;
    if (place.index != 0) {
      continue;  // a repeated register is described once
    }
    if (choice.json) {
      list.push_back(description_json(info));
      continue;
    }
    fmt::print("{:#07x}  {:<4} {:>2}  {:<24} {}\n", info.offset, access_text(info.access), info.width_bits,
               info.stride_bytes == 0 ? std::string(info.name)
                                      : fmt::format("{}[0-{}]", info.name, info.count - 1),
               description_of(info));
  }
  if (choice.json) {
    print_json({{"registers", std::move(list)}});
  }
  return exit_well;
}

/// Prints values in either form. The status tells whether the board answers.
int tell_values(OpenBoard& board, const std::vector<RegisterValue>& values, bool json) {
  const std::string complaint = board_complaint(board);
  if (json) {
    Json list = Json::array();
    for (const RegisterValue& value : values) {
      list.push_back(to_json(value));
    }
    print_json({{"board", board.address()}, {"complaint", complaint}, {"registers", std::move(list)}});
  } else {
    for (const RegisterValue& value : values) {
      fmt::print("{}\n", value_line(value));
    }
  }
  if (!complaint.empty() && !json) {
    fmt::print(stderr, "datum: {}\n", complaint);
  }
  return complaint.empty() && !any_all_ones(values) ? exit_well : exit_warnings;
}

int read_by_name(const RegisterChoice& choice) {
  const auto selections = select(choice.names);
  if (!selections) {
    return tell_failure(selections.error(), choice.json);
  }
  return with_board(choice, [&](OpenBoard& board) {
    std::vector<RegisterValue> all;
    for (const RegisterSelection& selection : *selections) {
      const std::vector<RegisterValue> values = read_registers(board, selection.places, selection.field);
      all.insert(all.end(), values.begin(), values.end());
    }
    return tell_values(board, all, choice.json);
  });
}

int write_by_name(const RegisterChoice& choice) {
  std::vector<RegisterWrite> writes;
  for (const std::string& text : choice.names) {
    const Result<RegisterWrite> write = parse_write(text);
    if (!write) {
      return tell_failure(write.error(), choice.json);  // none is made unless all can be
    }
    writes.push_back(*write);
  }
  return with_board(choice, [&](OpenBoard& board) {
    std::vector<RegisterPlace> places;
    for (const RegisterWrite& write : writes) {
      carry_out(board, write);
      places.push_back(write.place);
    }
    return tell_values(board, read_registers(board, places), choice.json);
  });
}

int watch_by_name(const RegisterChoice& choice) {
  const auto selections = select(choice.names);
  if (!selections) {
    return tell_failure(selections.error(), choice.json);
  }
  return with_board(choice, [&](OpenBoard& board) {
    const bool complained = warn_of_board(board);
    watch_registers(
        board, places_of(*selections), choice.watch,
        [&](std::uint64_t ms, const RegisterValue& value) {
          if (choice.json) {  // a line for each change, so that it can be read as it comes
            Json line = to_json(value);
            line["ms"] = ms;
            fmt::print("{}\n", line.dump());
          } else {
            fmt::print("{:>10}.{:03} s  {}\n", ms / 1000, ms % 1000, value_line(value));
          }
          std::fflush(stdout);
        },
        [](std::uint64_t ms) { std::this_thread::sleep_for(std::chrono::milliseconds(ms)); });
    return complained ? exit_warnings : exit_well;
  });
}

bool is_as_after_reset(const RegisterValue& value) {
  return !value.place.info->reset_by_hardware && value.value == value.place.info->reset;
}

int dump_registers(const RegisterChoice& choice) {
  return with_board(choice, [&](OpenBoard& board) {
    std::vector<RegisterValue> values = read_registers(board, places_of(*select({})));
    if (!choice.all) {
      std::erase_if(values, [](const RegisterValue& value) {
        return value.place.info->stride_bytes != 0 && is_as_after_reset(value);
      });
    }
    return tell_values(board, values, choice.json);
  });
}

constexpr const char* regs_examples = R"(Examples:
  datum regs list 'PERF_*'
  datum regs read MAGIC VERSION.major 'RING_STATE[0-3]' --board vfio-user:/run/board.look
  datum regs write SCRATCH=0x1234 CHANNEL_ENABLE=2
  datum regs watch FAULT_COUNT 'RING_STATE[1]' --interval 50
  datum regs dump --json --board vfio:0000:03:00.0

A board that does not answer reads all ones; the status is then 1. A simulated board of this process (rtl:, model:)
is a new one for each command.)";

}  // namespace

void add_register_commands(CLI::App& app, int& status) {
  const auto choice = std::make_shared<RegisterChoice>();
  CLI::App* const regs = app.add_subcommand("regs", "registers of a board, by name");
  regs->footer(regs_examples);
  regs->require_subcommand(1);
  const auto add = [&](const char* name, const char* description, int (*run)(const RegisterChoice&)) {
    CLI::App* const command = regs->add_subcommand(name, description);
    command->callback([choice, &status, run] { status = run(*choice); });
    return command;
  };
  const auto names = [&](CLI::App* command, const char* what) {
    return command->add_option("NAME", choice->names, what);
  };
  CLI::App* const list = add("list", "names, offsets and what they are; needs no board", &list_registers);
  names(list, "registers; '*' and '?' match (else all)");
  list->add_flag("--json", choice->json, "print JSON");
  CLI::App* const read = add("read", "read registers or fields", &read_by_name);
  names(read, "NAME, NAME[3], NAME[0-3], NAME.field, 'PERF_*'")->required();
  CLI::App* const write = add("write", "write registers or fields, and show them afterwards", &write_by_name);
  names(write, "NAME=VALUE, NAME[3]=VALUE, NAME.field=VALUE")->required();
  CLI::App* const watch =
      add("watch", "show registers whenever they change, until interrupted", &watch_by_name);
  names(watch, "as for read")->required();
  watch->add_option("--interval", choice->watch.interval_ms, "milliseconds between looks")
      ->capture_default_str()
      ->check(CLI::Range(1, 3'600'000));
  watch->add_option("--count", choice->watch.rounds, "how many looks; 0: until interrupted")
      ->capture_default_str()
      ->check(CLI::Range(0, 1'000'000'000));
  CLI::App* const dump = add("dump", "read all that can be read", &dump_registers);
  dump->add_flag("--all", choice->all, "also instances of repeated registers that are as after a reset");
  for (CLI::App* command : {read, write, watch, dump}) {
    add_board_options(*command, *choice);
  }
}

}  // namespace datum::tool
