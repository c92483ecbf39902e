// The IOMMU's address space of one card, whichever way the kernel offers it.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

#include "vfio_backend/card_address.hpp"
#include "vfio_backend/syscalls.hpp"

namespace datum::vfio {

struct SpaceLimits {
  std::vector<board::IovaRange> iova_ranges;  ///< sorted, disjoint
  std::uint64_t granule_bytes = small_page_bytes;
  std::uint64_t max_mappings = 0;  ///< 0: no known limit
};

/// The caller checks ranges, alignment and overlaps. Safe from any thread: the kernel may be long at one
/// call.
class AddressSpace {
 public:
  AddressSpace() = default;
  AddressSpace(const AddressSpace&) = delete;
  AddressSpace& operator=(const AddressSpace&) = delete;
  virtual ~AddressSpace() = default;
  [[nodiscard]] virtual KernelInterface kind() const noexcept = 0;
  [[nodiscard]] virtual const SpaceLimits& limits() const noexcept = 0;
  virtual Status map(Iova iova, std::span<std::byte> host, board::DmaAccess access) = 0;
  /// Maps a file without a mapping of the process. unsupported_feature: this kernel does not, for this file;
  /// the caller then maps the file itself and calls `map`.
  virtual Status map_file(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                          board::DmaAccess access) = 0;
  /// How many bytes the kernel unmapped.
  virtual Result<std::uint64_t> unmap(Iova iova, std::uint64_t bytes) = 0;
  /// Descriptors by which a reset of the whole bus is authorised; empty: the device's own is enough.
  [[nodiscard]] virtual std::vector<int> reset_owners() const = 0;
};

/// A device that was opened and is behind its IOMMU. The descriptor closes first.
struct OpenedDevice {
  std::unique_ptr<AddressSpace> space;
  OwnedFd device;
};

[[nodiscard]] constexpr bool may_read(board::DmaAccess access) noexcept {
  return (static_cast<unsigned>(access) & static_cast<unsigned>(board::DmaAccess::read)) != 0;
}

[[nodiscard]] constexpr bool may_write(board::DmaAccess access) noexcept {
  return (static_cast<unsigned>(access) & static_cast<unsigned>(board::DmaAccess::write)) != 0;
}

/// A value that an ioctl takes in place of a pointer.
[[nodiscard]] inline void* as_argument(std::uintptr_t value) noexcept {
  return reinterpret_cast<void*>(value);
}

}  // namespace datum::vfio
