// PCI domains of boards that are no PCI devices of this machine.
#pragma once

#include <cstdint>

namespace datum::board {

inline constexpr std::uint32_t simulated_domain = 0xda70;  ///< boards simulated in this process
inline constexpr std::uint32_t served_domain = 0xda71;     ///< boards that another process serves

}  // namespace datum::board
