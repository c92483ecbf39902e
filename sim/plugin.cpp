// The one symbol of the plugin.

#include <datum/board/backend.hpp>

#include "sim/backend.hpp"

extern "C" __attribute__((visibility("default"))) const datum::board::Plugin* datum_board_plugin() {
  static const datum::board::Plugin plugin{datum::board::plugin_interface_version,
                                           datum::sim::backends().data(),
                                           static_cast<unsigned>(datum::sim::backends().size())};
  return &plugin;
}
