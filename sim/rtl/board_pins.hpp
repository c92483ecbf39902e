// The ports of the Verilated board, the same for each of its models.
#pragma once

#include <verilated.h>

#include <datum/board/design.h>

namespace datum::sim {

/// 64 bytes of a bus.
using Wide = VlWide<16>;
static_assert(sizeof(Wide) == sizeof(datum_design_wide));

/// References to the ports of one model; names as in rtl_model/rtl/datum_board.sv.
struct BoardPins {
#define DATUM_PIN8(name) CData& name;
#define DATUM_PIN16(name) SData& name;
#define DATUM_PIN32(name) IData& name;
#define DATUM_PIN64(name) QData& name;
#define DATUM_PIN512(name) Wide& name;
  DATUM_DESIGN_PORTS(DATUM_PIN8, DATUM_PIN16, DATUM_PIN32, DATUM_PIN64, DATUM_PIN512)
#undef DATUM_PIN8
#undef DATUM_PIN16
#undef DATUM_PIN32
#undef DATUM_PIN64
#undef DATUM_PIN512
};

/// `Top` is the class that Verilator made of a board's top module, under any prefix. An error of the compiler
/// in here says that a port of that module is missing or has another width.
template <class Top>
[[nodiscard]] BoardPins pins_of(Top& top) {
#define DATUM_PIN(name) .name = top.name,
  return BoardPins{DATUM_DESIGN_PORTS(DATUM_PIN, DATUM_PIN, DATUM_PIN, DATUM_PIN, DATUM_PIN)};
#undef DATUM_PIN
}

/// The same for a library of another build, and back.
[[nodiscard]] inline datum_design_ports ports_of(BoardPins& pins) {
#define DATUM_PORT(name) .name = &pins.name,
#define DATUM_WIDE_PORT(name) .name = reinterpret_cast<datum_design_wide*>(&pins.name),
  return datum_design_ports{
      DATUM_DESIGN_PORTS(DATUM_PORT, DATUM_PORT, DATUM_PORT, DATUM_PORT, DATUM_WIDE_PORT)};
#undef DATUM_PORT
#undef DATUM_WIDE_PORT
}

[[nodiscard]] inline BoardPins pins_of(const datum_design_ports& ports) {
#define DATUM_PIN(name) .name = *ports.name,
#define DATUM_WIDE_PIN(name) .name = *reinterpret_cast<Wide*>(ports.name),
  return BoardPins{DATUM_DESIGN_PORTS(DATUM_PIN, DATUM_PIN, DATUM_PIN, DATUM_PIN, DATUM_WIDE_PIN)};
#undef DATUM_PIN
#undef DATUM_WIDE_PIN
}

}  // namespace datum::sim
