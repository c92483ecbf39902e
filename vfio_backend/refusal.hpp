// The sentences with which a card is refused: which device, what is in the way, whose it is, and the cure.
#pragma once

#include <cstdint>
#include <string>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>

#include "vfio_backend/sysfs.hpp"

namespace datum::vfio {

[[nodiscard]] Error not_bound(const PciDevice& device);
[[nodiscard]] Error iommu_is_off(Syscalls& syscalls, const PciDevice& device);
[[nodiscard]] Error no_iommu_mode(const PciDevice& device);
[[nodiscard]] Error group_not_viable(const PciDevice& device);
/// The process may not open `node`.
[[nodiscard]] Error no_permission(const PciDevice& device, const std::string& node);
/// Somebody else has the device; `node` is what they hold open.
[[nodiscard]] Error device_in_use(Syscalls& syscalls, const PciDevice& device, const std::string& node);
/// The kernel lacks `node`; `module` provides it.
[[nodiscard]] Error node_missing(const PciDevice& device, const std::string& node, const std::string& module);
/// The kernel refuses to put the device behind the IOMMU because interrupts could not be confined.
/// `node` is there, and is something else.
[[nodiscard]] Error wrong_node(const PciDevice& device, const std::string& node);
[[nodiscard]] Error no_interrupt_remapping(const PciDevice& device, const std::string& parameter);
/// A call failed in a way that has no sentence of its own.
[[nodiscard]] Error call_failed(const PciDevice& device, const std::string& what, int error_number,
                                ErrorCode code = ErrorCode::unknown);

/// Which error the kernel gave for mapping [`iova`, `iova` + `bytes`), in words.
[[nodiscard]] Error map_refused(Syscalls& syscalls, const PciDevice& device, Iova iova, std::uint64_t bytes,
                                std::uint64_t max_mappings, int error_number);

/// What a process may lock, for sentences: "8 MiB" or "no limit".
[[nodiscard]] std::string locked_memory_text(std::uint64_t bytes);
/// Memory that may be locked, in bytes; 0: no limit, by RLIMIT_MEMLOCK or because the process has
/// CAP_IPC_LOCK.
[[nodiscard]] std::uint64_t locked_memory_limit(Syscalls& syscalls);
/// How the limit is raised.
[[nodiscard]] std::string locked_memory_cure();
/// How the IOMMU is turned on.
[[nodiscard]] std::string iommu_cure();
/// How a device is bound to vfio-pci.
[[nodiscard]] std::string binding_cure(const PciDevice& device);

}  // namespace datum::vfio
