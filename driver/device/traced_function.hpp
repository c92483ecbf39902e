// A PCIe function whose waits, mappings and resets are noted in the trace, whatever board it is of.
#pragma once

#include <cstdint>
#include <memory>

#include <datum/board/pcie_function.hpp>

namespace datum {

/// `function`, or one that notes in the trace what is asked of it. Only while trace::on().
[[nodiscard]] std::unique_ptr<board::PcieFunction> traced(std::unique_ptr<board::PcieFunction> function);

/// The board's number in the trace; 0 for a function that is not traced.
[[nodiscard]] std::uint8_t trace_number(const board::PcieFunction& function) noexcept;

/// Notes the board's counters, at most once in a millisecond (of a card; scaled), and TIMER with them. Only
/// while trace::on().
void note_counters(board::PcieFunction& function) noexcept;

}  // namespace datum
