#include "driver/api/bandwidth.hpp"

#include "driver/object/device.hpp"

namespace datum::api {

std::uint32_t memory_bandwidth(Device& device) noexcept {
  return static_cast<std::uint32_t>(memory_port_bits / 8 * device.board().capabilities().clock_hz /
                                    1'000'000'000);
}

void fill_copy_bandwidth(Device& device, ze_copy_bandwidth_exp_properties_t& properties) noexcept {
  properties.copyBandwidth = memory_bandwidth(device);
  properties.copyBandwidthUnit = ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC;
}

void fill_p2p_bandwidth(Device& device, const Device& peer,
                        ze_device_p2p_bandwidth_exp_properties_t& properties) noexcept {
  const bool known = &device == &peer;
  properties.logicalBandwidth = known ? memory_bandwidth(device) : 0;
  properties.physicalBandwidth = properties.logicalBandwidth;
  properties.bandwidthUnit = known ? ZE_BANDWIDTH_UNIT_BYTES_PER_NANOSEC : ZE_BANDWIDTH_UNIT_UNKNOWN;
  properties.logicalLatency = 0;
  properties.physicalLatency = 0;
  properties.latencyUnit = ZE_LATENCY_UNIT_UNKNOWN;
}

}  // namespace datum::api
