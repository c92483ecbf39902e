// A plugin of another build than the driver's: DATUM_TEST_INTERFACE_VERSION says which.
#include <datum/board/backend.hpp>

extern "C" __attribute__((visibility("default"))) const datum::board::Plugin* datum_board_plugin() {
  static constexpr datum::board::Plugin plugin{DATUM_TEST_INTERFACE_VERSION, nullptr, 0};
  return &plugin;
}
