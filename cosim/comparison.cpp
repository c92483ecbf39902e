#include "cosim/comparison.hpp"

#include <fmt/format.h>
#include <fmt/ranges.h>

#include "cosim/shrink.hpp"

namespace datum::cosim {

namespace {

/// Empty: the program leaves what it should.
std::string failure_of(const Program& program, board::PcieFunction& board) {
  const BoardOutcome outcome = run_on_board(program, board);
  if (!outcome.failure.empty()) {
    return outcome.failure;
  }
  const auto different = first_difference(run_on_host(program), outcome.memory);
  return different ? fmt::format("buffer {} + {}: expected {:#04x}, found {:#04x}", different->spot.buffer,
                                 different->spot.offset, different->expected, different->found)
                   : std::string{};
}

}  // namespace

std::optional<Finding> compare(const Program& program, std::span<board::PcieFunction* const> boards,
                               bool shrinks) {
  for (std::size_t index = 0; index < boards.size(); ++index) {
    board::PcieFunction* const board = boards[index];
    std::string failure = failure_of(program, *board);
    if (failure.empty()) {
      continue;
    }
    Finding finding{program.seed,          program.operations.size(), program, index,
                    board->info().address, std::move(failure),        {}};
    if (shrinks) {
      finding.shortest = shrink(program, [&](const Program& shorter) {
        std::string why = failure_of(shorter, *board);
        const bool fails = !why.empty();
        if (fails) {
          finding.failure = std::move(why);
        }
        return fails;
      });
    }
    finding.place = first_wrong_operation(finding.shortest, *board);
    return finding;
  }
  return std::nullopt;
}

std::string describe(const Finding& finding) {
  std::string text = fmt::format("seed {}: {} fails: {}\n", finding.seed, finding.board, finding.failure);
  if (finding.place) {
    const WrongPlace& place = *finding.place;
    text += fmt::format("operation {} goes wrong, also alone: {} memory {:#x} (buffer {} + {}) has {:#04x} "
                        "instead of {:#04x}\n"
                        "between cycles {} and {}, by the descriptor {:016x}\n",
                        place.operation, place.memory, place.address, place.difference.spot.buffer,
                        place.difference.spot.offset, place.difference.found, place.difference.expected,
                        place.first_cycle, place.last_cycle, fmt::join(place.descriptor.words, " "));
  } else {
    text += "its operations one after the other do not fail: it is how they run beside one another\n";
  }
  return text + fmt::format("{} of {} operations are enough:\n{}", finding.shortest.operations.size(),
                            finding.operations, describe(finding.shortest));
}

}  // namespace datum::cosim
