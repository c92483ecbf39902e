#include <optional>

#include <fmt/format.h>

#include "tools/datum/devices.hpp"
#include "tools/datum/environment.hpp"
#include "tools/datum/find_driver.hpp"
#include "tools/datum/loader.hpp"

namespace datum::tool {

namespace {

Status failed(ze_result_t result, const char* call) {
  if (result == ZE_RESULT_SUCCESS) {
    return {};
  }
  return make_error(ErrorCode::unknown,
                    fmt::format("{} failed with 0x{:08x}", call, static_cast<unsigned>(result)));
}

/// Most significant byte first, as the tools of other drivers print it.
std::string uuid_text(const ze_device_uuid_t& uuid) {
  std::string text;
  for (unsigned index = ZE_MAX_DEVICE_UUID_SIZE; index-- > 0;) {
    text += fmt::format("{:02x}", uuid.id[index]);
    if (index == 12 || index == 10 || index == 8 || index == 6) {
      text += '-';
    }
  }
  return text;
}

const char* type_text(ze_device_type_t type) {
  switch (type) {
  case ZE_DEVICE_TYPE_FPGA:
    return "FPGA";
  case ZE_DEVICE_TYPE_GPU:
    return "GPU";
  default:
    return "other";
  }
}

std::string pci_text(const Loader& loader, ze_device_handle_t device) {
  ze_pci_ext_properties_t pci{};
  pci.stype = ZE_STRUCTURE_TYPE_PCI_EXT_PROPERTIES;
  if (loader.device_pci == nullptr || loader.device_pci(device, &pci) != ZE_RESULT_SUCCESS) {
    return {};
  }
  return fmt::format("{:04x}:{:02x}:{:02x}.{:x}", pci.address.domain, pci.address.bus, pci.address.device,
                     pci.address.function);
}

void add_memories(const Loader& loader, ze_device_handle_t device, DeviceFacts& facts) {
  ze_device_memory_properties_t blank{};
  blank.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
  for (const ze_device_memory_properties_t& memory : all_of<ze_device_memory_properties_t>(
           [&](std::uint32_t*count, ze_device_memory_properties_t*values) {
             return loader.device_memories(device, count, values);
           },
           blank)) {
    facts.memories.push_back({memory.name, memory.totalSize});
  }
}

void add_queue_groups(const Loader& loader, ze_device_handle_t device, DeviceFacts& facts) {
  ze_command_queue_group_properties_t blank{};
  blank.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
  for (const ze_command_queue_group_properties_t& group : all_of<ze_command_queue_group_properties_t>(
           [&](std::uint32_t*count, ze_command_queue_group_properties_t*values) {
             return loader.device_queue_groups(device, count, values);
           },
           blank)) {
    facts.queue_groups.push_back({(group.flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY) != 0,
                                  (group.flags & ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE) != 0,
                                  group.numQueues, group.maxMemoryFillPatternSize});
  }
}

Result<DeviceFacts> ask_device(const Loader& loader, ze_device_handle_t device, unsigned number) {
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  if (Status status = failed(loader.device_properties(device, &properties), "zeDeviceGetProperties");
      !status) {
    return status.error();
  }
  DeviceFacts facts;
  facts.number = number;
  facts.name = properties.name;
  facts.type = type_text(properties.type);
  facts.uuid = uuid_text(properties.uuid);
  facts.pci = pci_text(loader, device);
  facts.vendor_id = properties.vendorId;
  facts.device_id = properties.deviceId;
  facts.clock_mhz = properties.coreClockRate;
  facts.largest_allocation_bytes = properties.maxMemAllocSize;
  add_memories(loader, device, facts);
  add_queue_groups(loader, device, facts);
  return facts;
}

Result<DriverFacts> ask(const Loader& loader, ze_driver_handle_t driver,
                        std::vector<std::string> extensions) {
  DriverFacts facts;
  facts.extensions = std::move(extensions);
  ze_driver_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
  if (Status status = failed(loader.driver_properties(driver, &properties), "zeDriverGetProperties");
      !status) {
    return status.error();
  }
  facts.version = properties.driverVersion;
  ze_api_version_t version{};
  if (Status status = failed(loader.driver_api_version(driver, &version), "zeDriverGetApiVersion"); !status) {
    return status.error();
  }
  facts.api_version = fmt::format("{}.{}", ZE_MAJOR_VERSION(version), ZE_MINOR_VERSION(version));
  for (ze_device_handle_t device : all_of<ze_device_handle_t>(
           [&](std::uint32_t*count, ze_device_handle_t*devices) {
             return loader.device_get(driver, count, devices);
           },
           nullptr)) {
    Result<DeviceFacts> asked = ask_device(loader, device, static_cast<unsigned>(facts.devices.size()));
    if (!asked) {
      return std::move(asked).error();
    }
    facts.devices.push_back(std::move(*asked));
  }
  return facts;
}

}  // namespace

Result<DriverFacts> ask_driver() {
  const Result<Loader> loader = open_loader();
  if (!loader) {
    return loader.error();
  }
  Result<FoundDriver> driver = find_driver(*loader);
  return driver ? ask(*loader, driver->handle, std::move(driver->extensions)) : std::move(driver).error();
}

}  // namespace datum::tool
