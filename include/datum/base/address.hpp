// Addresses of the four kinds that meet in a driver, each a type of its own so that one is never taken for
// another.
#pragma once

#include <cstddef>
#include <cstdint>

namespace datum {

/// An address of host memory as the board puts it on PCIe, after the IOMMU's rules (an "I/O virtual
/// address").
enum class Iova : std::uint64_t {};

/// A virtual address inside one address space of the board's MMU; for everything an application sees it has
/// the same number as the application's own pointer.
enum class DeviceVa : std::uint64_t {};

/// A byte of the board's own memory: which memory (ordinal) and the offset from its start.
struct DeviceAddress {
  std::uint64_t offset_bytes = 0;
  std::uint32_t ordinal = 0;

  friend constexpr bool operator==(const DeviceAddress&, const DeviceAddress&) = default;
};

[[nodiscard]] constexpr std::uint64_t raw(Iova iova) noexcept { return static_cast<std::uint64_t>(iova); }

[[nodiscard]] constexpr std::uint64_t raw(DeviceVa va) noexcept { return static_cast<std::uint64_t>(va); }

[[nodiscard]] constexpr Iova operator+(Iova iova, std::uint64_t bytes) noexcept {
  return Iova{raw(iova) + bytes};
}

[[nodiscard]] constexpr DeviceVa operator+(DeviceVa va, std::uint64_t bytes) noexcept {
  return DeviceVa{raw(va) + bytes};
}

[[nodiscard]] constexpr DeviceAddress operator+(DeviceAddress address, std::uint64_t bytes) noexcept {
  return DeviceAddress{address.offset_bytes + bytes, address.ordinal};
}

/// The address that the board uses for a host pointer: the same number.
[[nodiscard]] inline DeviceVa device_va(const void* pointer) noexcept {
  return DeviceVa{reinterpret_cast<std::uintptr_t>(pointer)};
}

inline constexpr std::uint64_t small_page_bytes = 4096;
inline constexpr std::uint64_t large_page_bytes = 2ULL << 20U;
inline constexpr std::uint64_t huge_page_bytes = 1ULL << 30U;

[[nodiscard]] constexpr bool is_power_of_two(std::uint64_t value) noexcept {
  return value != 0 && (value & (value - 1)) == 0;
}

/// `granule` is a power of two.
[[nodiscard]] constexpr std::uint64_t align_down(std::uint64_t value, std::uint64_t granule) noexcept {
  return value & ~(granule - 1);
}

/// `granule` is a power of two; wraps to 0 when the result does not fit, so check `value` first.
[[nodiscard]] constexpr std::uint64_t align_up(std::uint64_t value, std::uint64_t granule) noexcept {
  return (value + granule - 1) & ~(granule - 1);
}

[[nodiscard]] constexpr bool is_aligned(std::uint64_t value, std::uint64_t granule) noexcept {
  return (value & (granule - 1)) == 0;
}

}  // namespace datum
