// Makes the engine of rtl: boards.
#pragma once

#include "sim/board/board.hpp"

namespace datum::sim {

/// invalid_argument: a file that the options name cannot be written.
Result<std::unique_ptr<Engine>> make_rtl_engine(const EngineSurroundings& surroundings);

}  // namespace datum::sim
