// Device memory as a dma-buf.
#pragma once

#include <span>

#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>
#include <datum/board/pcie_function.hpp>

#include "vfio_backend/sysfs.hpp"

namespace datum::vfio {

/// Whether this kernel makes dma-bufs of a card's memory.
[[nodiscard]] bool exports_memory(Syscalls& syscalls, int device_fd);

/// A dma-buf of `ranges`, which must be whole pages of ordinal 0 inside the fixed part of the aperture;
/// `registers` and BAR2 are laid out as the board contract says. invalid_argument, unsupported_feature
/// (on-chip memory, or beyond the fixed part), unknown.
[[nodiscard]] Result<UniqueFd> export_as_dma_buf(Syscalls& syscalls, const PciDevice& device, int device_fd,
                                                 board::Bar& registers,
                                                 std::span<const board::DeviceRange> ranges);

}  // namespace datum::vfio
