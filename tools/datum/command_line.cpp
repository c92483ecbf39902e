#include "tools/datum/command_line.hpp"

#include "tools/datum/output.hpp"

namespace datum::tool {

void add_board_options(CLI::App& command, BoardChoice& choice) {
  command.add_option(
      "-b,--board", choice.board,
      "vfio:0000:03:00.0, vfio-user:PATH, rtl:, model: (else the first of DATUM_BOARDS, else the "
      "only bound card)");
  command.add_flag("--json", choice.json, "print JSON");
}

int with_board(const BoardChoice& choice, const std::function<int(OpenBoard&)>& command) {
  Result<OpenBoard> board = open_board(choice.board);
  return board ? command(*board) : tell_failure(board.error(), choice.json);
}

}  // namespace datum::tool
