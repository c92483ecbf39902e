// Waiting for a whole device.
#include "driver/api/handles.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/object/device.hpp"

namespace datum::api {

ze_result_t zeDeviceSynchronize(ze_device_handle_t hDevice) {
  auto* device = find<Device>(hDevice);
  return device == nullptr ? refuse_handle(hDevice, "hDevice") : answer(device->rings().synchronize(~0ULL));
}

}  // namespace datum::api
