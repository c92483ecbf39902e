// What the core and the management interface both say about a device.
#pragma once

#include <cstdint>

#include <level_zero/ze_api.h>

namespace datum {
class Device;
class DeviceHeap;
}  // namespace datum

namespace datum::api {

/// Fills everything but stype and pNext. `timer_in_hz`: the timer's resolution in cycles a second instead of
/// nanoseconds a cycle.
void fill_properties(Device& device, ze_device_properties_t& properties, bool timer_in_hz);

/// Bytes of a memory of `device` that can be allocated now; what waits for the board to forget it counts.
[[nodiscard]] std::uint64_t usable_memory(Device& device, const DeviceHeap& heap);

}  // namespace datum::api
