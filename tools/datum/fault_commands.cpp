// datum faults: show, clear.
#include <memory>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/datum/board_faults.hpp"
#include "tools/datum/command_line.hpp"
#include "tools/datum/exit_status.hpp"
#include "tools/datum/output.hpp"

namespace datum::tool {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const FaultRecord& fault) {
  return {{"ring", fault.ring},
          {"sequence", fault.sequence},
          {"status", hw::name_of(fault.info.status())},
          {"reason", hw::name_of(fault.info.reason())},
          {"write", fault.info.write()},
          {"space", fault.info.space()},
          {"address", fmt::format("{:#x}", fault.address)},
          {"sentence", fault.sentence()}};
}

const char* word_for(board::DmaAccess access) { return access == board::DmaAccess::read ? "read" : "write"; }

Json to_json(const BoardFaults& faults, const std::string& address) {
  Json object = {{"board", address},
                 {"count", faults.count},
                 {"first", faults.first ? to_json(*faults.first) : Json()},
                 {"stopped_rings", Json::array()},
                 {"iommu_faults", Json::array()}};
  for (const FaultRecord& fault : faults.stopped_rings) {
    object["stopped_rings"].push_back(to_json(fault));
  }
  for (const board::DmaFault& fault : faults.iommu_faults) {
    object["iommu_faults"].push_back({{"iova", fmt::format("{:#x}", raw(fault.iova))},
                                      {"bytes", fault.bytes},
                                      {"access", word_for(fault.tried)},
                                      {"cycle", fault.cycle}});
  }
  return object;
}

void print_fault(const char* what, const FaultRecord& fault) {
  fmt::print("{} ring {}, descriptor {}: {}\n", what, fault.ring, fault.sequence, fault.sentence());
}

void print_faults(const BoardFaults& faults) {
  fmt::print("{} since the log was cleared\n",
             faults.count == 1 ? "1 fault" : fmt::format("{} faults", faults.count));
  if (faults.first) {
    print_fault("first:  ", *faults.first);
  }
  for (const FaultRecord& fault : faults.stopped_rings) {
    print_fault("stopped:", fault);
  }
  for (const board::DmaFault& fault : faults.iommu_faults) {
    fmt::print("IOMMU:   {} of {} bytes at IOVA {:#x} refused\n", word_for(fault.tried), fault.bytes,
               raw(fault.iova));
  }
}

int show_faults(const BoardChoice& choice) {
  return with_board(choice, [&](OpenBoard& board) {
    if (const std::string complaint = board_complaint(board); !complaint.empty()) {
      return tell_failure(make_error(ErrorCode::device_lost, complaint, "'datum doctor' looks for the cause"),
                          choice.json);
    }
    const BoardFaults faults = read_faults(board);
    if (choice.json) {
      print_json(to_json(faults, board.address()));
    } else {
      print_faults(faults);
    }
    return faults.count == 0 && faults.stopped_rings.empty() && faults.iommu_faults.empty() ? exit_well
                                                                                            : exit_warnings;
  });
}

int clear_log(const BoardChoice& choice) {
  return with_board(choice, [&](OpenBoard& board) {
    const std::uint32_t before = board.registers->read32(hw::fault_count);
    clear_faults(board);
    const std::uint32_t after = board.registers->read32(hw::fault_count);
    if (after == ~0U) {
      return tell_failure(make_error(ErrorCode::device_lost, board_complaint(board)), choice.json);
    }
    if (choice.json) {
      print_json({{"board", board.address()}, {"cleared", before}, {"count", after}});
    } else {
      fmt::print("{} cleared\n", before);
    }
    return exit_well;
  });
}

constexpr const char* faults_examples = R"(Examples:
  datum faults --board vfio-user:/run/board.look
  datum faults show --json
  datum faults clear

Status of show: 0 there are none, 1 there are some. Clearing does not start rings again that stopped.)";

}  // namespace

void add_fault_commands(CLI::App& app, int& status) {
  const auto choice = std::make_shared<BoardChoice>();
  CLI::App* const faults = app.add_subcommand("faults", "descriptors that failed");
  faults->footer(faults_examples);
  add_board_options(*faults, *choice);
  faults->require_subcommand(0, 1);
  CLI::App* const show = faults->add_subcommand("show", "what failed, and why");
  CLI::App* const clear = faults->add_subcommand("clear", "clear the board's log of faults");
  for (CLI::App* command : {show, clear}) {
    add_board_options(*command, *choice);
  }
  faults->callback(
      [choice, clear, &status] { status = clear->parsed() ? clear_log(*choice) : show_faults(*choice); });
}

}  // namespace datum::tool
