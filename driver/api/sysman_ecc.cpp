// Management interface: error correction of the memories. A board has it or has not; nothing switches it.
#include "driver/api/sysman_lookup.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/object/device.hpp"

namespace datum::api {
namespace {

constexpr zes_device_ecc_state_t last_state = ZES_DEVICE_ECC_STATE_DISABLED;

zes_device_ecc_state_t state_of(const Device& device) {
  return device.has_ecc() ? ZES_DEVICE_ECC_STATE_ENABLED : ZES_DEVICE_ECC_STATE_UNAVAILABLE;
}

}  // namespace

ze_result_t zesDeviceEccAvailable(zes_device_handle_t hDevice, ze_bool_t* pAvailable) {
  Device* device = nullptr;
  const ze_result_t code = find_managed(hDevice, pAvailable, "pAvailable", device);
  if (code == ZE_RESULT_SUCCESS) {
    *pAvailable = device->has_ecc() ? 1 : 0;
  }
  return code;
}

ze_result_t zesDeviceEccConfigurable(zes_device_handle_t hDevice, ze_bool_t* pConfigurable) {
  Device* device = nullptr;
  const ze_result_t code = find_managed(hDevice, pConfigurable, "pConfigurable", device);
  if (code == ZE_RESULT_SUCCESS) {
    *pConfigurable = 0;
  }
  return code;
}

ze_result_t zesDeviceGetEccState(zes_device_handle_t hDevice, zes_device_ecc_properties_t* pState) {
  Device* device = nullptr;
  if (const ze_result_t code = find_managed(hDevice, pState, "pState", device); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  pState->currentState = state_of(*device);
  pState->pendingState = state_of(*device);
  pState->pendingAction = ZES_DEVICE_ACTION_NONE;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zesDeviceSetEccState(zes_device_handle_t hDevice, const zes_device_ecc_desc_t* newState,
                                 zes_device_ecc_properties_t* pState) {
  Device* device = nullptr;
  if (const ze_result_t code = find_managed(hDevice, newState, "newState", device);
      code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (pState == nullptr) {
    return refuse_null_pointer("pState");
  }
  if (newState->state > last_state) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "newState->state is no state of ECC");
  }
  return refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                device->has_ecc() ? "the board's ECC is always on" : "the board has no ECC");
}

}  // namespace datum::api
