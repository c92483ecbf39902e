#include "vfio_backend/card_address.hpp"

#include <array>
#include <charconv>

#include <fmt/format.h>

namespace datum::vfio {

namespace {

constexpr std::string_view scheme = "vfio:";

/// Takes a hexadecimal number of 1 to `digits` digits off the front, and `end` behind it (0: the end of the
/// text).
bool take_number(std::string_view& text, std::size_t digits, char end, unsigned& value) {
  const char* const last = text.data() + text.size();
  const auto [stop, error] = std::from_chars(text.data(), last, value, 16);
  const auto length = static_cast<std::size_t>(stop - text.data());
  if (error != std::errc{} || length == 0 || length > digits) {
    return false;
  }
  text.remove_prefix(length);
  if (end == '\0') {
    return text.empty();
  }
  if (text.empty() || text.front() != end) {
    return false;
  }
  text.remove_prefix(1);
  return true;
}

Error malformed(std::string_view address, std::string_view what) {
  return make_error(
      ErrorCode::invalid_argument, fmt::format("'{}' is no card address: {}", address, what),
      "write vfio:0000:03:00.0, and ',iommufd' or ',container' behind it to force a kernel interface");
}

}  // namespace

const char* name_of(KernelInterface kind) noexcept {
  return kind == KernelInterface::iommufd ? "iommufd" : "container";
}

std::optional<board::PciAddress> parse_pci_address(std::string_view text) {
  unsigned domain = 0;
  unsigned bus = 0;
  unsigned device = 0;
  unsigned function = 0;
  const bool with_domain = text.find(':') != text.rfind(':');
  if (with_domain && !take_number(text, 8, ':', domain)) {
    return std::nullopt;
  }
  if (!take_number(text, 2, ':', bus) || !take_number(text, 2, '.', device) ||
      !take_number(text, 1, '\0', function) || device > 0x1f || function > 7) {
    return std::nullopt;
  }
  return board::PciAddress{domain, static_cast<std::uint8_t>(bus), static_cast<std::uint8_t>(device),
                           static_cast<std::uint8_t>(function)};
}

Result<CardAddress> parse_card_address(std::string_view address) {
  if (!address.starts_with(scheme)) {
    return malformed(address, "it does not begin with 'vfio:'");
  }
  CardAddress result;
  result.text = address;
  std::string_view rest = address.substr(scheme.size());
  const std::string_view pci = rest.substr(0, rest.find(','));
  if (!pci.empty()) {
    const std::optional<board::PciAddress> place = parse_pci_address(pci);
    if (!place) {
      return malformed(address, fmt::format("'{}' is not DOMAIN:BUS:DEVICE.FUNCTION", pci));
    }
    result.pci =
        fmt::format("{:04x}:{:02x}:{:02x}.{:x}", place->domain, place->bus, place->device, place->function);
  }
  rest.remove_prefix(pci.size());
  while (!rest.empty()) {
    rest.remove_prefix(1);  // the comma
    const std::string_view option = rest.substr(0, rest.find(','));
    rest.remove_prefix(option.size());
    const KernelInterface kind = option == "iommufd" ? KernelInterface::iommufd : KernelInterface::container;
    if (option != name_of(kind)) {
      return malformed(address, fmt::format("unknown option '{}'; there are iommufd and container", option));
    }
    if (result.forced) {
      return malformed(address, *result.forced == kind ? fmt::format("it names {} twice", option)
                                                       : "it forces two kernel interfaces at once");
    }
    result.forced = kind;
  }
  return result;
}

}  // namespace datum::vfio
