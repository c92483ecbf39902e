#include "vfio_backend/backend.hpp"

#include <algorithm>
#include <cstdlib>
#include <utility>

#include <fmt/format.h>

#include "vfio_backend/doctor.hpp"
#include "vfio_backend/sysfs.hpp"
#include "vfio_backend/vfio_function.hpp"

namespace datum::vfio {

namespace {

/// Boards that are built from this project's RTL.
constexpr std::string_view known_ids = "1234:da70";

bool has_id(std::string_view list, std::string_view id) {
  while (!list.empty()) {
    const std::string_view entry = list.substr(0, list.find(','));
    if (entry == id) {
      return true;
    }
    list.remove_prefix(std::min(list.size(), entry.size() + 1));
  }
  return false;
}

std::string with_hint(const Error& error) {
  return error.hint.empty() ? error.message : fmt::format("{} ({})", error.message, error.hint);
}

bool is(const Check& check, CheckNumber number) { return check.number == static_cast<unsigned>(number); }

std::vector<std::string> list() {
  const char* const ids = std::getenv("DATUM_VFIO_IDS");
  return list_cards(kernel_syscalls(), ids == nullptr ? std::string_view{} : std::string_view{ids});
}

Result<std::unique_ptr<board::PcieFunction>> open(std::string_view address) {
  return open_card(kernel_syscalls(), address);
}

std::string diagnose(std::string_view address) { return diagnose_card(kernel_syscalls(), address); }

constexpr board::Backend vfio_entry{"vfio", &list, &open, &diagnose};

}  // namespace

const board::Backend& backend() noexcept { return vfio_entry; }

std::vector<std::string> list_cards(Syscalls& syscalls, std::string_view more_ids) {
  std::vector<std::string> addresses;
  for (const std::string& pci : bound_devices(syscalls)) {
    const Result<PciDevice> device = look_up_device(syscalls, pci);
    if (!device) {
      continue;
    }
    const std::string id = fmt::format("{:04x}:{:04x}", device->vendor_id, device->device_id);
    if (has_id(known_ids, id) || has_id(more_ids, id)) {
      addresses.push_back("vfio:" + pci);
    }
  }
  return addresses;
}

Result<std::unique_ptr<board::PcieFunction>> open_card(Syscalls& syscalls, std::string_view address) {
  const Result<CardAddress> parsed = parse_card_address(address);
  if (!parsed) {
    return parsed.error();
  }
  Result<std::unique_ptr<VfioFunction>> function = VfioFunction::open(syscalls, *parsed);
  if (!function) {
    return std::move(function).error();
  }
  return std::unique_ptr<board::PcieFunction>(std::move(function).value());
}

std::string diagnose_card(Syscalls& syscalls, std::string_view address) {
  const Result<CardAddress> parsed = parse_card_address(address);
  if (!parsed) {
    return with_hint(parsed.error());
  }
  std::vector<Check> checks = examine_card(syscalls, *parsed);
  // Too little lockable memory does not keep a card from being opened.
  std::erase_if(checks, [](const Check& check) {
    return check.outcome != CheckOutcome::failed || is(check, CheckNumber::locked_memory);
  });
  // A card without an IOMMU cannot be bound either: the cause goes before what follows from it.
  std::stable_partition(checks.begin(), checks.end(), [](const Check& check) {
    return is(check, CheckNumber::card_found) || is(check, CheckNumber::iommu_on);
  });
  if (!checks.empty()) {
    return with_hint(make_error(ErrorCode::not_available, checks.front().finding, checks.front().cure));
  }
  const Result<std::unique_ptr<VfioFunction>> function = VfioFunction::open(syscalls, *parsed);
  return function ? std::string{} : with_hint(function.error());
}

}  // namespace datum::vfio
