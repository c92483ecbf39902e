#include "tools/datum/devices.hpp"

#include <cstdio>

#include <fmt/format.h>
#include <nlohmann/json.hpp>

#include "tools/datum/environment.hpp"
#include "tools/datum/exit_status.hpp"
#include "tools/datum/output.hpp"

namespace datum::tool {

namespace {

using Json = nlohmann::ordered_json;

Json to_json(const DeviceFacts& device) {
  Json object = {{"number", device.number},
                 {"name", device.name},
                 {"type", device.type},
                 {"pci", device.pci},
                 {"uuid", device.uuid},
                 {"vendor_id", device.vendor_id},
                 {"device_id", device.device_id},
                 {"clock_mhz", device.clock_mhz},
                 {"largest_allocation_bytes", device.largest_allocation_bytes},
                 {"memories", Json::array()},
                 {"queue_groups", Json::array()}};
  for (const MemoryFacts& memory : device.memories) {
    object["memories"].push_back({{"name", memory.name}, {"bytes", memory.bytes}});
  }
  for (const QueueGroupFacts& group : device.queue_groups) {
    object["queue_groups"].push_back({{"copy", group.copies},
                                      {"compute", group.computes},
                                      {"queues", group.queues},
                                      {"largest_fill_pattern_bytes", group.largest_fill_pattern_bytes}});
  }
  return object;
}

Json to_json(const DriverFacts& driver) {
  Json object = {{"driver_version", driver.version},
                 {"api_version", driver.api_version},
                 {"extensions", driver.extensions},
                 {"devices", Json::array()}};
  for (const DeviceFacts& device : driver.devices) {
    object["devices"].push_back(to_json(device));
  }
  return object;
}

std::uint64_t memory_bytes(const DeviceFacts& device) {
  std::uint64_t sum = 0;
  for (const MemoryFacts& memory : device.memories) {
    sum += memory.bytes;
  }
  return sum;
}

void print_line(const char* name, const std::string& value) { fmt::print("  {:<20}{}\n", name, value); }

void print_device(const DeviceFacts& device) {
  fmt::print("device {}\n", device.number);
  print_line("name", device.name);
  print_line("type", device.type);
  print_line("PCI address", device.pci.empty() ? "not known" : device.pci);
  print_line("PCI id", fmt::format("{:04x}:{:04x}", device.vendor_id, device.device_id));
  print_line("UUID", device.uuid);
  print_line("clock", fmt::format("{} MHz", device.clock_mhz));
  for (const MemoryFacts& memory : device.memories) {
    print_line("memory", fmt::format("{}, {}", memory.name, bytes_text(memory.bytes)));
  }
  print_line("largest allocation", bytes_text(device.largest_allocation_bytes));
  for (const QueueGroupFacts& group : device.queue_groups) {
    print_line("queue group", fmt::format("{} queues, {}, fill patterns up to {}", group.queues,
                                          group.computes && group.copies ? "compute and copy"
                                          : group.computes               ? "compute"
                                                                         : "copy",
                                          bytes_text(group.largest_fill_pattern_bytes)));
  }
}

/// Runs `print` on what the driver says, in either form.
template <class Print>
int tell_of_driver(const std::string& board, bool json, bool name_driver, const Print& print) {
  if (const Status prepared = prepare_environment(board, name_driver); !prepared) {
    return tell_failure(prepared.error(), json);
  }
  const Result<DriverFacts> driver = ask_driver();
  if (!driver) {
    return tell_failure(driver.error(), json);
  }
  if (json) {
    fmt::print("{}\n", to_json(*driver).dump(2, ' ', false, Json::error_handler_t::replace));
  } else {
    print(*driver);
  }
  return exit_well;
}

}  // namespace

int list_devices(const std::string& board, bool json, bool environment_as_it_is) {
  return tell_of_driver(board, json, !environment_as_it_is, [](const DriverFacts& driver) {
    for (const DeviceFacts& device : driver.devices) {
      fmt::print("{}  {:<13} {:>10}  {}\n", device.number, device.pci.empty() ? "-" : device.pci,
                 bytes_text(memory_bytes(device)), device.name);
    }
  });
}

int show_devices(const std::string& board, bool json) {
  return tell_of_driver(board, json, true, [](const DriverFacts& driver) {
    fmt::print("driver version {:#x}, Level Zero {}\n", driver.version, driver.api_version);
    for (const DeviceFacts& device : driver.devices) {
      print_device(device);
    }
    fmt::print("extensions\n");
    for (const std::string& name : driver.extensions) {
      fmt::print("  {}\n", name);
    }
  });
}

}  // namespace datum::tool
