// What the core and the management interface both say about a device.
#pragma once

#include <level_zero/ze_api.h>

namespace datum {
class Device;
}

namespace datum::api {

/// Fills everything but stype and pNext. `timer_in_hz`: the timer's resolution in cycles a second instead of
/// nanoseconds a cycle.
void fill_properties(Device& device, ze_device_properties_t& properties, bool timer_in_hz);

}  // namespace datum::api
