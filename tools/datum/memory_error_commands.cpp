// datum ecc: show, clear, inject, scrub.
#include <limits>
#include <memory>
#include <string>
#include <utility>
#include <vector>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/datum/byte_text.hpp"
#include "tools/datum/command_line.hpp"
#include "tools/datum/exit_status.hpp"
#include "tools/datum/memory_errors.hpp"
#include "tools/datum/output.hpp"

namespace datum::tool {

namespace {

using Json = nlohmann::ordered_json;

constexpr unsigned word_data_bits = 64;
constexpr unsigned code_bits = 72;

struct EccChoice : BoardChoice {
  std::string address;
  std::string bytes;
  std::vector<unsigned> bits;
  std::uint32_t interval_cycles = 0;
};

Json to_json(const std::optional<MemoryError>& error) {
  if (!error) {
    return {};
  }
  return {{"address", fmt::format("{:#x}", error->address)},
          {"bank", error->bank},
          {"syndrome", fmt::format("{:#04x}", error->syndrome)},
          {"found_by", error->scrub ? "scrub" : "read"}};
}

void print_first(const char* what, const std::optional<MemoryError>& error) {
  if (error) {
    fmt::print("first {}: the word at {:#x}, bank {}, syndrome {:#04x}, found by a {}\n", what,
               error->address, error->bank, error->syndrome, error->scrub ? "scrub" : "read");
  }
}

void print_errors(const MemoryErrors& errors) {
  fmt::print("{} corrected, {} lost\n", errors.corrected, errors.uncorrected);
  print_first("corrected", errors.first_corrected);
  print_first("lost", errors.first_uncorrected);
  fmt::print("scrubber at {:#x}, {}\n", errors.scrub_position,
             errors.scrub_interval_cycles == 0
                 ? std::string("at rest")
                 : fmt::format("64 bytes every {} cycles", errors.scrub_interval_cycles));
}

int show_errors(OpenBoard& board, const EccChoice& choice) {
  const Result<MemoryErrors> errors = read_memory_errors(board);
  if (!errors) {
    return tell_failure(errors.error(), choice.json);
  }
  if (choice.json) {
    print_json({{"board", board.address()},
                {"corrected", errors->corrected},
                {"lost", errors->uncorrected},
                {"first_corrected", to_json(errors->first_corrected)},
                {"first_lost", to_json(errors->first_uncorrected)},
                {"scrub_position", fmt::format("{:#x}", errors->scrub_position)},
                {"scrub_remaining", errors->scrub_remaining},
                {"scrub_interval_cycles", errors->scrub_interval_cycles}});
  } else {
    print_errors(*errors);
  }
  return errors->uncorrected == 0 ? exit_well : exit_warnings;
}

/// Prints `object`, or `text` and a line end; or the failure.
int tell(const Status& status, const EccChoice& choice, const Json& object, const std::string& text) {
  if (!status) {
    return tell_failure(status.error(), choice.json);
  }
  if (choice.json) {
    print_json(object);
  } else {
    fmt::print("{}\n", text);
  }
  return exit_well;
}

int clear_errors(OpenBoard& board, const EccChoice& choice) {
  return tell(clear_memory_errors(board), choice, {{"board", board.address()}, {"cleared", true}},
              "counts and logs cleared");
}

int inject_bits(OpenBoard& board, const EccChoice& choice) {
  const Result<std::uint64_t> address = parse_size(choice.address);
  if (!address) {
    return tell_failure(address.error(), choice.json);
  }
  std::uint64_t data = 0;
  unsigned check = 0;
  for (const unsigned bit : choice.bits) {
    if (bit < word_data_bits) {
      data |= std::uint64_t{1} << bit;
    } else {
      check |= 1U << (bit - word_data_bits);
    }
  }
  return tell(inject_error(board, *address, data, static_cast<std::uint8_t>(check)), choice,
              {{"board", board.address()},
               {"address", fmt::format("{:#x}", *address)},
               {"data", fmt::format("{:#x}", data)},
               {"check", fmt::format("{:#04x}", check)}},
              fmt::format("wrong now at {:#x}: data bits {:#x}, check bits {:#04x}", *address, data, check));
}

int scrub_range(OpenBoard& board, const EccChoice& choice) {
  std::pair<std::uint64_t, std::uint64_t> range;
  for (const auto& [text, number] :
       {std::pair{&choice.address, &range.first}, std::pair{&choice.bytes, &range.second}}) {
    const Result<std::uint64_t> parsed = text->empty() ? Result<std::uint64_t>(0) : parse_size(*text);
    if (!parsed) {
      return tell_failure(parsed.error(), choice.json);
    }
    *number = *parsed;
  }
  const Result<std::uint64_t> done = scrub(board, range.first, range.second);
  if (!done) {
    return tell_failure(done.error(), choice.json);
  }
  if (!choice.json) {
    fmt::print("{} scrubbed\n", bytes_text(*done));
  }
  return show_errors(board, choice);
}

int set_interval(OpenBoard& board, const EccChoice& choice) {
  const std::uint32_t cycles = choice.interval_cycles;
  return tell(set_scrub_interval(board, cycles), choice,
              {{"board", board.address()}, {"scrub_interval_cycles", cycles}},
              cycles == 0 ? "the scrubber is at rest"
                          : fmt::format("the scrubber reads 64 bytes every {} cycles", cycles));
}

constexpr const char* ecc_examples = R"(Examples:
  datum ecc --board vfio-user:/run/board.look
  datum ecc show --json
  datum ecc clear
  datum ecc inject 0x1000 3          one wrong bit, which the next read corrects
  datum ecc inject 0x1000 3 70       two (64 to 71 are check bits), which fail whoever reads the word
  datum ecc scrub 0 1G
  datum ecc interval 100000

Status of show and scrub: 0 nothing is lost, 1 words were lost since the counts were cleared. Whoever opens a card or
a simulated board resets its counts.)";

}  // namespace

void add_memory_error_commands(CLI::App& app, int& status) {
  const auto choice = std::make_shared<EccChoice>();
  CLI::App* const ecc = app.add_subcommand("ecc", "error correction of the DRAM");
  ecc->footer(ecc_examples);
  add_board_options(*ecc, *choice);
  ecc->require_subcommand(0, 1);
  const auto add = [&](const char* name, const char* description) {
    CLI::App* const command = ecc->add_subcommand(name, description);
    add_board_options(*command, *choice);
    return command;
  };
  add("show", "errors that were met, and the scrubber");
  CLI::App* const clear = add("clear", "clear counts and logs");
  CLI::App* const inject = add("inject", "make bits of a word wrong");
  inject->add_option("ADDRESS", choice->address, "of the word of 8 bytes")->required();
  inject->add_option("BIT", choice->bits, "0 to 63 of the data, 64 to 71 of the check bits")
      ->required()
      ->check(CLI::Range(0U, code_bits - 1));
  CLI::App* const scrub = add("scrub", "read memory for errors and repair them");
  scrub->add_option("ADDRESS", choice->address, "where to begin (default 0)");
  scrub->add_option("BYTES", choice->bytes, "how much (default: to the end)");
  CLI::App* const interval = add("interval", "the scrubber's pace");
  interval->add_option("CYCLES", choice->interval_cycles, "from 64 bytes to the next; 0: at rest")
      ->required()
      ->check(CLI::Range(0U, std::numeric_limits<std::uint32_t>::max()));
  ecc->callback([=, &status] {
    status = with_board(*choice, [&](OpenBoard& board) {
      return clear->parsed()      ? clear_errors(board, *choice)
             : inject->parsed()   ? inject_bits(board, *choice)
             : scrub->parsed()    ? scrub_range(board, *choice)
             : interval->parsed() ? set_interval(board, *choice)
                                  : show_errors(board, *choice);
    });
  });
}

}  // namespace datum::tool
