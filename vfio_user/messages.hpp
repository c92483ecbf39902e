// The messages of the vfio-user protocol, version 0.0, as they lie on the wire: little endian, without gaps.
// Source: the public vfio-user specification (docs of libvfio-user and QEMU).
#pragma once

#include <bit>
#include <cstddef>
#include <cstdint>
#include <cstring>
#include <span>
#include <type_traits>
#include <vector>

namespace datum::vfio_user {

static_assert(std::endian::native == std::endian::little, "structures are sent as they lie in memory");

enum class Command : std::uint16_t {
  version = 1,
  dma_map = 2,
  dma_unmap = 3,
  device_get_info = 4,
  device_get_region_info = 5,
  device_get_region_io_fds = 6,
  device_get_irq_info = 7,
  device_set_irqs = 8,
  region_read = 9,
  region_write = 10,
  dma_read = 11,
  dma_write = 12,
  device_reset = 13,
};

[[nodiscard]] const char* name_of(Command command) noexcept;

/// Before every message. `size_bytes` counts the header too; `error` is an errno, with flag_error only.
struct Header {
  std::uint16_t id = 0;
  std::uint16_t command = 0;
  std::uint32_t size_bytes = 0;
  std::uint32_t flags = 0;
  std::uint32_t error = 0;
};

inline constexpr std::uint32_t flag_type_mask = 0xf;
inline constexpr std::uint32_t type_command = 0;
inline constexpr std::uint32_t type_reply = 1;
inline constexpr std::uint32_t flag_no_reply = 0x10;
inline constexpr std::uint32_t flag_error = 0x20;
inline constexpr std::uint32_t known_flags = flag_type_mask | flag_no_reply | flag_error;

/// Followed by capabilities as text (capabilities.hpp).
struct Version {
  std::uint16_t major = 0;
  std::uint16_t minor = 0;
};

/// With one descriptor: the memory is [`offset`, `offset` + `bytes`) of it. With none: by messages only.
struct DmaMap {
  std::uint32_t argsz = 0;
  std::uint32_t flags = 0;
  std::uint64_t offset = 0;
  std::uint64_t iova = 0;
  std::uint64_t bytes = 0;
};

inline constexpr std::uint32_t dma_map_read = 1;
inline constexpr std::uint32_t dma_map_write = 2;

struct DmaUnmap {
  std::uint32_t argsz = 0;
  std::uint32_t flags = 0;
  std::uint64_t iova = 0;
  std::uint64_t bytes = 0;
};

inline constexpr std::uint32_t dma_unmap_all = 2;

struct DeviceInfo {
  std::uint32_t argsz = 0;
  std::uint32_t flags = 0;
  std::uint32_t region_count = 0;
  std::uint32_t irq_count = 0;
};

inline constexpr std::uint32_t device_can_reset = 1;
inline constexpr std::uint32_t device_is_pci = 2;

/// Indices as in linux/vfio.h: BARs first.
inline constexpr std::uint32_t bar_count = 6;
inline constexpr std::uint32_t config_region = 7;
inline constexpr std::uint32_t pci_region_count = 9;

/// A reply may have capabilities behind it, the first at `capability_offset` from here. A region that can be
/// mapped comes with a descriptor, in which it begins at `offset`.
struct RegionInfo {
  std::uint32_t argsz = 0;
  std::uint32_t flags = 0;
  std::uint32_t index = 0;
  std::uint32_t capability_offset = 0;
  std::uint64_t bytes = 0;
  std::uint64_t offset = 0;
};

inline constexpr std::uint32_t region_read_flag = 1;
inline constexpr std::uint32_t region_write_flag = 2;
inline constexpr std::uint32_t region_mmap_flag = 4;
inline constexpr std::uint32_t region_capabilities_flag = 8;

/// Which parts of a region can be mapped. Followed by `area_count` areas.
struct SparseCapability {
  std::uint16_t id = 0;
  std::uint16_t version = 0;
  std::uint32_t next = 0;
  std::uint32_t area_count = 0;
  std::uint32_t reserved = 0;
};

inline constexpr std::uint16_t sparse_capability = 1;

struct SparseArea {
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

struct IrqInfo {
  std::uint32_t argsz = 0;
  std::uint32_t flags = 0;
  std::uint32_t index = 0;
  std::uint32_t count = 0;
};

inline constexpr std::uint32_t irq_eventfd_flag = 1;
inline constexpr std::uint32_t irq_no_resize_flag = 8;

inline constexpr std::uint32_t msix_irq = 2;
inline constexpr std::uint32_t error_irq = 3;
inline constexpr std::uint32_t request_irq = 4;
inline constexpr std::uint32_t pci_irq_count = 5;

struct IrqSet {
  std::uint32_t argsz = 0;
  std::uint32_t flags = 0;
  std::uint32_t index = 0;
  std::uint32_t start = 0;
  std::uint32_t count = 0;
};

inline constexpr std::uint32_t irq_set_no_data = 1;
inline constexpr std::uint32_t irq_set_bytes = 2;
inline constexpr std::uint32_t irq_set_eventfd = 4;
inline constexpr std::uint32_t irq_set_mask = 8;
inline constexpr std::uint32_t irq_set_unmask = 16;
inline constexpr std::uint32_t irq_set_trigger = 32;

/// Of region_read and region_write; the data stand behind it.
struct RegionAccess {
  std::uint64_t offset = 0;
  std::uint32_t region = 0;
  std::uint32_t count = 0;
};

/// Of dma_read and dma_write; the data stand behind it.
struct DmaAccess {
  std::uint64_t iova = 0;
  std::uint64_t count = 0;
};

static_assert(sizeof(Header) == 16 && sizeof(Version) == 4 && sizeof(DmaMap) == 32 &&
              sizeof(DmaUnmap) == 24 && sizeof(DeviceInfo) == 16 && sizeof(RegionInfo) == 32 &&
              sizeof(SparseCapability) == 16 && sizeof(SparseArea) == 16 && sizeof(IrqInfo) == 16 &&
              sizeof(IrqSet) == 20 && sizeof(RegionAccess) == 16 && sizeof(DmaAccess) == 16);

/// Most data of one access.
inline constexpr std::uint32_t most_data_bytes = 1U << 20U;
/// Most bytes of a message: the largest access and what stands before it.
inline constexpr std::uint32_t most_message_bytes = most_data_bytes + 4096;
inline constexpr std::size_t most_descriptors = 16;
/// Data of one DMA message. A peer whose socket takes no more than its buffer at once must be able to answer.
inline constexpr std::uint32_t most_dma_bytes = 64U << 10U;
/// What 32 bits of a size can say is no reason to believe it.
inline constexpr std::uint32_t least_message_bytes = sizeof(Header);

template <class Body>
concept OnTheWire = std::is_trivially_copyable_v<Body>;

/// The structure at the start of `bytes`, which hold at least that much.
template <OnTheWire Body>
[[nodiscard]] Body read_body(std::span<const std::byte> bytes) noexcept {
  Body body{};
  std::memcpy(&body, bytes.data(), sizeof body);
  return body;
}

template <OnTheWire Body>
void append(std::vector<std::byte>& to, const Body& body) {
  const auto bytes = std::as_bytes(std::span{&body, 1});
  to.insert(to.end(), bytes.begin(), bytes.end());
}

template <OnTheWire Body>
[[nodiscard]] std::vector<std::byte> as_message_body(const Body& body) {
  std::vector<std::byte> bytes;
  append(bytes, body);
  return bytes;
}

}  // namespace datum::vfio_user
