// The library of somebody's own RTL: the class that Verilator made of it, behind the C interface of a design.
// Installed as source and compiled by datum_add_board(), which defines
//   DATUM_DESIGN_NAME, _OPTIONS        text
//   DATUM_DESIGN_VENDOR, _DEVICE       PCI ids
//   DATUM_DESIGN_FAST, _FAST_HEADER    class and header of the model for speed
//   DATUM_DESIGN_INSTRUMENTED, _INSTRUMENTED_HEADER   of the one with assertions, where it is built
#include DATUM_DESIGN_FAST_HEADER
#ifdef DATUM_DESIGN_INSTRUMENTED_HEADER
#include DATUM_DESIGN_INSTRUMENTED_HEADER
#endif

#include <exception>
#include <memory>
#include <string>

#include <datum/board/design.h>

#include "sim/rtl/verilated_board_of.hpp"

struct datum_design_model {
  std::unique_ptr<datum::sim::VerilatedBoard> board;
  std::string failure;
};

namespace {

using datum::sim::VerilatedBoard;
using datum::sim::VerilatedBoardOf;
using datum::sim::VerilatedSettings;

std::unique_ptr<VerilatedBoard> make_board(const VerilatedSettings& settings, bool instrumented) {
#ifdef DATUM_DESIGN_INSTRUMENTED
  if (instrumented) {
    return std::make_unique<VerilatedBoardOf<DATUM_DESIGN_INSTRUMENTED, true>>(settings);
  }
#else
  static_cast<void>(instrumented);
#endif
  return std::make_unique<VerilatedBoardOf<DATUM_DESIGN_FAST, false>>(settings);
}

datum_design_model* open_model(const datum_design_settings* settings, std::uint32_t instrumented,
                               datum_design_ports* ports) {
  try {
    auto model = std::make_unique<datum_design_model>();
    model->board =
        make_board({settings->seed, settings->waveforms != 0, settings->coverage_file}, instrumented != 0);
    *ports = datum::sim::ports_of(model->board->pins());
    return model.release();
  } catch (const std::exception&) {
    return nullptr;
  }
}

const char* evaluate(datum_design_model* model) {
  try {
    model->board->evaluate();
    return nullptr;
  } catch (const std::exception& failure) {
    model->failure = failure.what();
    return model->failure.c_str();
  }
}

void open_waveform(datum_design_model* model, const char* file, const char* const* scopes,
                   std::uint32_t count) {
  model->board->open_waveform(file, {scopes, scopes + count});
}

void dump(datum_design_model* model, std::uint64_t time_ps) { model->board->dump(time_ps); }

void flush_waveform(datum_design_model* model) { model->board->flush_waveform(); }

void close_waveform(datum_design_model* model) { model->board->close_waveform(); }

void close_model(datum_design_model* model) { delete model; }

}  // namespace

extern "C" __attribute__((visibility("default"))) const datum_design* datum_board_design() {
#ifdef DATUM_DESIGN_INSTRUMENTED
  constexpr std::uint32_t has_instrumented = 1;
#else
  constexpr std::uint32_t has_instrumented = 0;
#endif
  static constexpr datum_design design{DATUM_DESIGN_INTERFACE,
                                       sizeof(datum_design_ports),
                                       DATUM_DESIGN_NAME,
                                       DATUM_DESIGN_OPTIONS,
                                       DATUM_DESIGN_VENDOR,
                                       DATUM_DESIGN_DEVICE,
                                       has_instrumented,
                                       &open_model,
                                       &evaluate,
                                       &open_waveform,
                                       &dump,
                                       &flush_waveform,
                                       &close_waveform,
                                       &close_model};
  return &design;
}
