// `datum status`, `bind`, `unbind` and `udev-rule`. Each prints and returns the exit status.
#pragma once

#include <string>
#include <vector>

#include "vfio_backend/syscalls.hpp"

namespace datum::tool {

struct BindingChoice {
  std::string pci;  ///< "0000:03:00.0"; empty, for status alone: every card
  bool dry_run = false;
  bool whole_group = false;
  bool json = false;
};

/// PCI addresses of what may be a card: devices with the id of this project's boards, and those that are
/// bound to vfio-pci.
[[nodiscard]] std::vector<std::string> possible_cards(vfio::Syscalls& syscalls);

int show_status(vfio::Syscalls& syscalls, const BindingChoice& choice);
int bind_card(vfio::Syscalls& syscalls, const BindingChoice& choice);
int unbind_card(vfio::Syscalls& syscalls, const BindingChoice& choice);

/// Rules with which members of `group` use cards without being root; for /etc/udev/rules.d/70-datum.rules.
[[nodiscard]] std::string udev_rules(const std::string& group);

}  // namespace datum::tool
