// Management interface: the PCI function of a device.
#include <algorithm>
#include <vector>

#include "driver/api/extension_chain.hpp"
#include "driver/api/link_speed.hpp"
#include "driver/api/sysman_lookup.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/device/traffic_counters.hpp"
#include "driver/object/device.hpp"

namespace datum::api {
namespace {

constexpr std::uint32_t memory_bar = 2;  // of the board contract: the aperture

/// Numbers of the BARs that the function has.
std::vector<std::uint32_t> bars_of(Device& device) {
  std::vector<std::uint32_t> found;
  const auto& bars = device.board().function().info().bars;
  for (std::uint32_t index = 0; index < bars.size(); ++index) {
    if (bars[index].size_bytes != 0) {
      found.push_back(index);
    }
  }
  return found;
}

/// Where the seam does not know the base, it is 0.
template <class Properties>
void fill_bar(Properties& properties, std::uint32_t index, const board::BarInfo& bar) {
  properties.type = index == memory_bar ? ZES_PCI_BAR_TYPE_MEM : ZES_PCI_BAR_TYPE_MMIO;
  properties.index = index;
  properties.base = bar.bus_address;
  properties.size = bar.size_bytes;
}

}  // namespace

ze_result_t zesDevicePciGetProperties(zes_device_handle_t hDevice, zes_pci_properties_t* pProperties) {
  Device* device = nullptr;
  if (const ze_result_t code = find_managed(hDevice, pProperties, "pProperties", device);
      code != ZE_RESULT_SUCCESS) {
    return code;
  }
  const board::FunctionInfo& info = device->board().function().info();
  pProperties->address = {info.pci.domain, info.pci.bus, info.pci.device, info.pci.function};
  pProperties->maxSpeed = speed_of<zes_pci_speed_t>(info.fastest_link);
  pProperties->haveBandwidthCounters = 1;
  pProperties->havePacketCounters = 0;
  pProperties->haveReplayCounters = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zesDevicePciGetState(zes_device_handle_t hDevice, zes_pci_state_t* pState) {
  Device* device = nullptr;
  if (const ze_result_t code = find_managed(hDevice, pState, "pState", device); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  // An answering board has a link; of its quality nothing is known.
  if (const Status alive = device->board().health(); !alive) {
    return answer(alive);
  }
  pState->status = ZES_PCI_LINK_STATUS_UNKNOWN;
  pState->qualityIssues = 0;
  pState->stabilityIssues = 0;
  pState->speed = speed_of<zes_pci_speed_t>(device->board().function().info().link);
  return ZE_RESULT_SUCCESS;
}

ze_result_t zesDevicePciGetBars(zes_device_handle_t hDevice, uint32_t* pCount,
                                zes_pci_bar_properties_t* pProperties) {
  Device* device = nullptr;
  if (const ze_result_t code = find_managed(hDevice, pCount, "pCount", device); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  const std::vector<std::uint32_t> bars = bars_of(*device);
  const auto available = static_cast<std::uint32_t>(bars.size());
  const std::uint32_t wanted = pProperties != nullptr ? *pCount : 0;
  *pCount = wanted == 0 ? available : std::min(wanted, available);
  for (std::uint32_t at = 0; at < std::min(wanted, available); ++at) {
    const board::BarInfo& bar = device->board().function().info().bars[bars[at]];
    fill_bar(pProperties[at], bars[at], bar);
    if (pProperties[at].stype != ZES_STRUCTURE_TYPE_PCI_BAR_PROPERTIES) {
      continue;
    }
    for_each_output_extension(pProperties[at].pNext, [&](ze_structure_type_t stype, void* structure) {
      if (static_cast<unsigned>(stype) == ZES_STRUCTURE_TYPE_PCI_BAR_PROPERTIES_1_2) {
        auto& extended = *static_cast<zes_pci_bar_properties_1_2_t*>(structure);
        fill_bar(extended, bars[at], bar);
        extended.resizableBarSupported = 0;
        extended.resizableBarEnabled = 0;
      }
      return ZE_RESULT_SUCCESS;
    });
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t zesDevicePciGetStats(zes_device_handle_t hDevice, zes_pci_stats_t* pStats) {
  Device* device = nullptr;
  if (const ze_result_t code = find_managed(hDevice, pStats, "pStats", device); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  const Result<TrafficCounters> traffic = host_traffic(device->board());
  if (!traffic) {
    return answer(traffic.error());
  }
  pStats->timestamp = traffic->at_us;
  pStats->replayCounter = 0;
  pStats->packetCounter = 0;
  pStats->rxCounter = traffic->read_bytes;
  pStats->txCounter = traffic->written_bytes;
  pStats->speed = speed_of<zes_pci_speed_t>(device->board().function().info().link);
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
