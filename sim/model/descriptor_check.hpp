// Which descriptors break the format, and by which rule.
#pragma once

#include <datum/hw/registers.hpp>

namespace datum::sim {

/// none, or the first rule broken in the order of board contract 4: opcode, reserved bits, size, alignment.
[[nodiscard]] hw::FaultReason check_descriptor(const hw::Descriptor& descriptor) noexcept;

}  // namespace datum::sim
