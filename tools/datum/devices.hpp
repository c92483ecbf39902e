// Datum's driver and its devices, as any Level Zero program sees them.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <datum/base/result.hpp>

namespace datum::tool {

struct MemoryFacts {
  std::string name;
  std::uint64_t bytes = 0;
};

struct QueueGroupFacts {
  bool copies = false;
  bool computes = false;
  std::uint32_t queues = 0;
  std::uint64_t largest_fill_pattern_bytes = 0;
};

struct DeviceFacts {
  unsigned number = 0;
  std::string name;
  std::string type;  ///< "FPGA"
  std::string uuid;
  std::string pci;  ///< "0000:03:00.0"; empty: not known
  std::uint32_t vendor_id = 0;
  std::uint32_t device_id = 0;
  std::uint32_t clock_mhz = 0;
  std::uint64_t largest_allocation_bytes = 0;
  std::vector<MemoryFacts> memories;
  std::vector<QueueGroupFacts> queue_groups;
};

struct DriverFacts {
  std::uint32_t version = 0;
  std::string api_version;
  std::vector<std::string> extensions;
  std::vector<DeviceFacts> devices;
};

/// Initialises the loader and asks Datum's driver. dependency_unavailable: no loader; not_available: it found
/// no driver of ours with a board. Once in a process.
[[nodiscard]] Result<DriverFacts> ask_driver();

/// `datum list`: a line for each device. Returns the exit status. `environment_as_it_is`: the loader is not
/// helped to find the driver.
int list_devices(const std::string& board, bool json, bool environment_as_it_is);

/// `datum info`: all that is known of each. Returns the exit status.
int show_devices(const std::string& board, bool json);

}  // namespace datum::tool
