#include "tools/demo/report.hpp"

#include <array>
#include <string>
#include <vector>

#include <fmt/format.h>

namespace datum::demo {

std::string size_text(std::uint64_t bytes) {
  constexpr std::array units{"B", "KiB", "MiB", "GiB", "TiB"};
  double value = static_cast<double>(bytes);
  std::size_t unit = 0;
  while (value >= 1024 && unit + 1 < units.size()) {
    value /= 1024;
    ++unit;
  }
  return fmt::format("{:.4g} {}", value, units[unit]);
}

namespace {

const char* type_text(ze_device_type_t type) {
  switch (type) {
  case ZE_DEVICE_TYPE_FPGA:
    return "FPGA";
  case ZE_DEVICE_TYPE_GPU:
    return "GPU";
  case ZE_DEVICE_TYPE_CPU:
    return "CPU";
  default:
    return "other";
  }
}

void print_driver(const Session& session) {
  ze_api_version_t api = ZE_API_VERSION_1_0;
  check(zeDriverGetApiVersion(session.driver(), &api), "zeDriverGetApiVersion", session.driver());
  ze_driver_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
  check(zeDriverGetProperties(session.driver(), &properties), "zeDriverGetProperties", session.driver());
  fmt::print("driver        API {}.{}, driver version 0x{:08x}\n", ZE_MAJOR_VERSION(api),
             ZE_MINOR_VERSION(api), properties.driverVersion);
}

void print_device(const Session& session) {
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  check(zeDeviceGetProperties(session.device(), &properties), "zeDeviceGetProperties", session.driver());
  fmt::print("device        {} (type {}, vendor 0x{:04x}, device 0x{:04x}, {} MHz)\n", properties.name,
             type_text(properties.type), properties.vendorId, properties.deviceId, properties.coreClockRate);
}

void print_memories(const Session& session) {
  std::uint32_t count = 0;
  check(zeDeviceGetMemoryProperties(session.device(), &count, nullptr), "zeDeviceGetMemoryProperties",
        session.driver());
  std::vector<ze_device_memory_properties_t> memories(count);
  for (auto& memory : memories) {
    memory.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
  }
  check(zeDeviceGetMemoryProperties(session.device(), &count, memories.data()), "zeDeviceGetMemoryProperties",
        session.driver());
  for (std::uint32_t ordinal = 0; ordinal < count; ++ordinal) {
    const auto& memory = memories[ordinal];
    fmt::print("memory {}      {}: {}, {}-bit bus\n", ordinal, memory.name, size_text(memory.totalSize),
               memory.maxBusWidth);
  }
}

void print_queue_groups(const Session& session) {
  std::uint32_t count = 0;
  check(zeDeviceGetCommandQueueGroupProperties(session.device(), &count, nullptr),
        "zeDeviceGetCommandQueueGroupProperties", session.driver());
  std::vector<ze_command_queue_group_properties_t> groups(count);
  for (auto& group : groups) {
    group.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
  }
  check(zeDeviceGetCommandQueueGroupProperties(session.device(), &count, groups.data()),
        "zeDeviceGetCommandQueueGroupProperties", session.driver());
  for (std::uint32_t ordinal = 0; ordinal < count; ++ordinal) {
    const auto& group = groups[ordinal];
    const bool copies = (group.flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY) != 0;
    const bool computes = (group.flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) != 0;
    fmt::print("queue group {} {}{}{}, {} queues, fill patterns of up to {} bytes\n", ordinal,
               copies ? "copy" : "", copies && computes ? " and " : "", computes ? "compute" : "",
               group.numQueues, group.maxMemoryFillPatternSize);
  }
}

}  // namespace

void print_findings(const Session& session) {
  print_driver(session);
  print_device(session);
  print_memories(session);
  print_queue_groups(session);
}

}  // namespace datum::demo
