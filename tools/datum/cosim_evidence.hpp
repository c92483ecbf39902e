// What shows a difference that datum cosim has found: a timeline on all boards, a waveform of the one that
// fails.
#pragma once

#include <span>
#include <string>

#include <datum/board/pcie_function.hpp>

#include "tools/datum/cosim_result.hpp"

namespace datum::tool {

/// The address with one more option.
[[nodiscard]] std::string with_option(const std::string& address, const std::string& option);
[[nodiscard]] bool is_rtl_address(const std::string& address);

/// What of a waveform holds the difference: the descriptor that goes wrong, and as long as it took; else the
/// last cycles before the end of it all.
[[nodiscard]] std::string waveform_window(const cosim::Finding& finding);

/// Runs the shortest program of `result.finding` once more on each of the boards, and writes down what their
/// rings do. The place that is told is the one of this run from then on.
Status write_timeline_of(CosimResult& result, std::span<board::PcieFunction* const> boards,
                         const std::string& file);

/// Runs it on another board of the address that fails, with a waveform. That there is none is no error, but
/// told in the evidence.
void write_waveform_of(CosimResult& result, const std::string& file);

}  // namespace datum::tool
