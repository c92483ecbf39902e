// What a backend offers: how to find boards of its scheme and how to open one.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <datum/board/pcie_function.hpp>

namespace datum::board {

/// One scheme of board addresses. The driver holds a table of these; there are no static registrars that a
/// linker could drop.
struct Backend {
  std::string_view scheme;  ///< "rtl", "model", "vfio", "vfio-user"
  std::vector<std::string> (
      *list)();  ///< addresses that `open` would accept now without being asked for (cards); simulators: none
  Result<std::unique_ptr<PcieFunction>> (*open)(
      std::string_view address);  ///< the whole address, scheme included
  std::string (*diagnose)(
      std::string_view address);  ///< why `open` fails or would fail, for people; empty: it would not
};

/// A plugin exports `datum_board_plugin` with C linkage under this signature. Driver and plugin are of one
/// build; `interface_version` makes sure of it, since C++ types cross the boundary.
inline constexpr unsigned plugin_interface_version = 2;

struct Plugin {
  unsigned interface_version = plugin_interface_version;
  const Backend* backends = nullptr;
  unsigned backend_count = 0;
};

using PluginEntry = const Plugin* (*)();
inline constexpr const char* plugin_entry_name = "datum_board_plugin";

}  // namespace datum::board
