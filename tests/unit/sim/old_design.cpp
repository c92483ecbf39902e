// A design that was built for another release.

#include <datum/board/design.h>

extern "C" __attribute__((visibility("default"))) const datum_design* datum_board_design() {
  static constexpr datum_design design{.interface_version = DATUM_DESIGN_INTERFACE + 1,
                                       .ports_bytes = sizeof(datum_design_ports),
                                       .name = "old",
                                       .options = "",
                                       .vendor_id = 0,
                                       .device_id = 0,
                                       .instrumented = 0,
                                       .open = nullptr,
                                       .evaluate = nullptr,
                                       .open_waveform = nullptr,
                                       .dump = nullptr,
                                       .flush_waveform = nullptr,
                                       .close_waveform = nullptr,
                                       .close = nullptr};
  return &design;
}
