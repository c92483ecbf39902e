// The registers of error correction, scrubber and injection of the golden model.
#pragma once

#include <cstdint>

#include "sim/model/ecc_unit.hpp"

namespace datum::sim {

/// Of the memory and inject blocks, by offset in BAR0; 0 for what is none of them.
[[nodiscard]] std::uint64_t read_ecc_register(const EccUnit& ecc, std::uint32_t offset) noexcept;
/// `mask` has the bits that the access carries.
void write_ecc_register(EccUnit& ecc, std::uint32_t offset, std::uint64_t value, std::uint64_t mask);

}  // namespace datum::sim
