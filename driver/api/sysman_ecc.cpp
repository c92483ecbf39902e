// Management interface: error correction of the memories. No register of the board contract speaks of it, so
// there is none to be seen or switched.
#include "driver/api/sysman_lookup.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/object/device.hpp"

namespace datum::api {
namespace {

constexpr zes_device_ecc_state_t last_state = ZES_DEVICE_ECC_STATE_DISABLED;

ze_result_t give_false(zes_device_handle_t handle, ze_bool_t* output, std::string_view name) {
  Device* device = nullptr;
  const ze_result_t code = find_managed(handle, output, name, device);
  if (code == ZE_RESULT_SUCCESS) {
    *output = 0;
  }
  return code;
}

}  // namespace

ze_result_t zesDeviceEccAvailable(zes_device_handle_t hDevice, ze_bool_t* pAvailable) {
  return give_false(hDevice, pAvailable, "pAvailable");
}

ze_result_t zesDeviceEccConfigurable(zes_device_handle_t hDevice, ze_bool_t* pConfigurable) {
  return give_false(hDevice, pConfigurable, "pConfigurable");
}

ze_result_t zesDeviceGetEccState(zes_device_handle_t hDevice, zes_device_ecc_properties_t* pState) {
  Device* device = nullptr;
  if (const ze_result_t code = find_managed(hDevice, pState, "pState", device); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  pState->currentState = ZES_DEVICE_ECC_STATE_UNAVAILABLE;
  pState->pendingState = ZES_DEVICE_ECC_STATE_UNAVAILABLE;
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
  return refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "the board has no ECC that could be switched");
}

}  // namespace datum::api
