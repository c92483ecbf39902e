// The scopes of a model that a waveform can be confined to.
#pragma once

#include <string>
#include <vector>

#include <datum/base/result.hpp>

#include "sim/rtl/verilated_board.hpp"

namespace datum::sim {

/// Those that end in one of the `wanted` names, by their whole names: "u_mmu" and "datum_board.u_mmu" are
/// "TOP.datum_board.u_mmu". Writes a waveform of nothing into `file`, which has their names.
/// invalid_argument: a name fits none; the sentence has some that there are.
[[nodiscard]] Result<std::vector<std::string>>
find_waveform_scopes(VerilatedBoard& board, const std::string& file, const std::vector<std::string>& wanted);

}  // namespace datum::sim
