// What tells a board from every other one.
#pragma once

#include <array>
#include <cstdint>

#include <datum/board/pcie_function.hpp>

namespace datum {

/// A card's is that of its ids and its place in the machine, however its address was written. The place of a
/// simulated or served board is only counted, so its address counts, too.
[[nodiscard]] std::array<std::uint8_t, 16> uuid_of(const board::FunctionInfo& info);

}  // namespace datum
