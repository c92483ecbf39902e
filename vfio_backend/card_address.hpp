// What an address of the scheme vfio asks for.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <string_view>

#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

namespace datum::vfio {

/// The two ways that the kernel offers to a device and its IOMMU.
enum class KernelInterface : std::uint8_t { iommufd, container };

[[nodiscard]] const char* name_of(KernelInterface kind) noexcept;

struct CardAddress {
  std::string text;  ///< as given
  std::string pci;   ///< "0000:03:00.0"; empty: the first card that is bound
  std::optional<KernelInterface> forced;
};

/// Reads "[DOMAIN:]BUS:DEVICE.FUNCTION". Nothing: that is none.
[[nodiscard]] std::optional<board::PciAddress> parse_pci_address(std::string_view text);

/// Reads "vfio:[[DOMAIN:]BUS:DEVICE.FUNCTION][,iommufd|,container]". invalid_argument says what is wrong with
/// it.
[[nodiscard]] Result<CardAddress> parse_card_address(std::string_view address);

}  // namespace datum::vfio
