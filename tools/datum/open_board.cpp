#include "tools/datum/open_board.hpp"

#include <cstdio>
#include <cstdlib>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <datum/hw/registers.hpp>

#include "driver/device/backend_table.hpp"
#include "driver/device/board_addresses.hpp"
#include "tools/datum/environment.hpp"

namespace datum::tool {

namespace {

constexpr const char* plugin_variable = "DATUM_SIM_PLUGIN";

Result<std::string> first_board(std::string_view list) {
  if (Status good = check_board_list(list); !good) {
    return std::move(good).error();
  }
  return first_board_of(list);
}

/// The backend looks for the plugin beside the driver, which is not where this program lies once installed.
void name_plugin() {
  if (std::getenv(plugin_variable) == nullptr) {
    if (const auto plugin = plugin_beside_driver()) {
      ::setenv(plugin_variable, plugin->c_str(), 0);
    }
  }
}

}  // namespace

void OpenBoard::write(std::uint64_t offset, unsigned width_bits, std::uint64_t value) noexcept {
  if (width_bits == 64) {
    registers->write64(offset, value);
  } else {
    registers->write32(offset, static_cast<std::uint32_t>(value));
  }
}

Result<std::string> chosen_board(const std::string& named) {
  if (!named.empty()) {
    return first_board(named);
  }
  if (const char* const boards = std::getenv("DATUM_BOARDS"); boards != nullptr && *boards != '\0') {
    return first_board(boards);
  }
  std::vector<std::string> cards = default_boards();
  constexpr const char* cure =
      "name one with --board: vfio:0000:03:00.0, vfio-user:PATH, rtl:, model: ('datum status' lists cards)";
  if (cards.empty()) {
    return make_error(ErrorCode::invalid_argument, "no board is named, and no card is bound to vfio-pci",
                      cure);
  }
  if (cards.size() > 1) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("no board is named, and {} cards are bound to vfio-pci", cards.size()),
                      cure);
  }
  return std::move(cards.front());
}

Result<OpenBoard> open_board(const std::string& named) {
  Result<std::string> address = chosen_board(named);
  if (!address) {
    return std::move(address).error();
  }
  name_plugin();
  Result<std::unique_ptr<board::PcieFunction>> function = open_function(*address);
  if (!function) {
    return std::move(function).error();
  }
  return adopt_board(std::move(function).value());
}

Result<OpenBoard> adopt_board(std::unique_ptr<board::PcieFunction> function) {
  OpenBoard board;
  board.function = std::move(function);
  for (auto& [index, bar] : {std::pair{0U, &board.registers}, std::pair{2U, &board.aperture}}) {
    Result<board::Bar*> found = board.function->bar(index);
    if (!found) {
      return std::move(found).error();
    }
    *bar = *found;
  }
  if (board.registers->size_bytes() < hw::bar0_bytes) {
    return make_error(ErrorCode::unsupported_version,
                      fmt::format("BAR0 of {} has {} bytes, the registers take {}", board.address(),
                                  board.registers->size_bytes(), hw::bar0_bytes));
  }
  return board;
}

std::string board_complaint(OpenBoard& board) {
  const std::uint32_t magic = board.registers->read32(hw::magic);
  if (magic == ~0U) {
    const Status health = board.function->health();
    return fmt::format("{} does not answer: its registers read all ones{}", board.address(),
                       health ? std::string{} : ". " + health.error().message);
  }
  if (magic != hw::magic_value) {
    return fmt::format("{} is no Datum board, or is not configured: MAGIC reads {:#010x}, expected {:#010x}",
                       board.address(), magic, hw::magic_value);
  }
  const std::uint32_t build = board.registers->read32(hw::build_id);
  if (build != hw::description_crc) {
    return fmt::format(
        "{} was built from another description of registers: BUILD_ID reads {:#010x}, this program knows "
        "{:#010x}, so names may be wrong",
        board.address(), build, hw::description_crc);
  }
  return {};
}

bool warn_of_board(OpenBoard& board) {
  const std::string complaint = board_complaint(board);
  if (!complaint.empty()) {
    fmt::print(stderr, "datum: {}\n", complaint);
  }
  return !complaint.empty();
}

}  // namespace datum::tool
