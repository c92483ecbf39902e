#include "tools/datum/binding_commands.hpp"

#include <algorithm>
#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/datum/binding.hpp"
#include "tools/datum/exit_status.hpp"
#include "tools/datum/output.hpp"

namespace datum::tool {

namespace {

using Json = nlohmann::ordered_json;

void print(const Json& object) {
  fmt::print("{}\n", object.dump(2, ' ', false, Json::error_handler_t::replace));
}

std::string driver_text(const std::string& driver) { return driver.empty() ? "no driver" : driver; }

Json to_json(const vfio::PciDevice& device) {
  Json object = {
      {"address", device.address}, {"vendor_id", device.vendor_id}, {"device_id", device.device_id},
      {"driver", device.driver},   {"bound", device.bound()},       {"iommu", device.iommu_is_on()},
      {"group", nullptr},          {"members", Json::array()}};
  if (device.group) {
    object["group"] = *device.group;
  }
  for (const vfio::GroupMember& member : device.group_members) {
    object["members"].push_back({{"address", member.address}, {"driver", member.driver}});
  }
  return object;
}

void print_status(const vfio::PciDevice& device) {
  fmt::print("{}  {}\n", device.description(),
             coloured(device.bound() ? Colour::green : Colour::yellow, driver_text(device.driver)));
  if (!device.iommu_is_on()) {
    fmt::print("  {}\n", coloured(Colour::red, "no IOMMU serves it"));
    return;
  }
  fmt::print("  IOMMU group {}\n", *device.group);
  for (const vfio::GroupMember& member : device.group_members) {
    if (member.address != device.address) {
      fmt::print("    with {}  {}\n", member.address, driver_text(member.driver));
    }
  }
}

Json to_json(const BindingPlan& plan, bool dry_run) {
  Json object = {{"address", plan.device.address},
                 {"devices", plan.taken},
                 {"done", !dry_run},
                 {"writes", Json::array()}};
  for (const SysfsWrite& write : plan.writes) {
    object["writes"].push_back({{"path", write.path}, {"text", write.text}});
  }
  return object;
}

int follow(vfio::Syscalls& syscalls, const Result<BindingPlan>& plan, const BindingChoice& choice,
           bool bound) {
  if (!plan) {
    return tell_failure(plan.error(), choice.json);
  }
  if (!choice.dry_run) {
    if (const Status done = carry_out(syscalls, *plan, bound); !done) {
      return tell_failure(done.error(), choice.json);
    }
  }
  if (choice.json) {
    print(to_json(*plan, choice.dry_run));
  } else if (plan->writes.empty()) {
    fmt::print("nothing to do: {} is {}\n", plan->device.description(),
               bound ? "bound to vfio-pci" : "not bound to vfio-pci");
  } else if (choice.dry_run) {
    fmt::print("{}", plan_text(*plan));
  } else {
    for (const std::string& device : plan->taken) {
      fmt::print("{} is {} vfio-pci\n", device, bound ? "bound to" : "no longer bound to");
    }
  }
  return exit_well;
}

}  // namespace

std::vector<std::string> possible_cards(vfio::Syscalls& syscalls) {
  std::vector<std::string> names;
  if (syscalls.list_folder("/sys/bus/pci/devices", &names) < 0) {
    return {};
  }
  std::ranges::sort(names);
  std::erase_if(names, [&](const std::string& name) {
    const Result<vfio::PciDevice> device = vfio::look_up_device(syscalls, name);
    return !device || !(device->bound() || (device->vendor_id == 0x1234 && device->device_id == 0xda70));
  });
  return names;
}

int show_status(vfio::Syscalls& syscalls, const BindingChoice& choice) {
  const std::vector<std::string> cards =
      choice.pci.empty() ? possible_cards(syscalls) : std::vector<std::string>{choice.pci};
  Json array = Json::array();
  for (const std::string& card : cards) {
    const Result<vfio::PciDevice> device = vfio::look_up_device(syscalls, card);
    if (!device) {
      return tell_failure(device.error(), choice.json);
    }
    if (choice.json) {
      array.push_back(to_json(*device));
    } else {
      print_status(*device);
    }
  }
  if (choice.json) {
    print({{"cards", array}});
  } else if (cards.empty()) {
    fmt::print("no card: no device has the id 1234:da70 or is bound to vfio-pci\n");
  }
  return exit_well;
}

int bind_card(vfio::Syscalls& syscalls, const BindingChoice& choice) {
  return follow(syscalls, plan_bind(syscalls, choice.pci, choice.whole_group), choice, true);
}

int unbind_card(vfio::Syscalls& syscalls, const BindingChoice& choice) {
  return follow(syscalls, plan_unbind(syscalls, choice.pci), choice, false);
}

std::string udev_rules(const std::string& group) {
  return fmt::format("SUBSYSTEM==\"vfio\", GROUP=\"{0}\", MODE=\"0660\"\n"
                     "SUBSYSTEM==\"vfio-dev\", GROUP=\"{0}\", MODE=\"0660\"\n"
                     "KERNEL==\"iommu\", SUBSYSTEM==\"misc\", GROUP=\"{0}\", MODE=\"0660\"\n",
                     group);
}

}  // namespace datum::tool
