// Management interface: what a board does not have. No register tells of temperatures, power or clocks,
// so each list is empty, and the functions of those components answer UNSUPPORTED_FEATURE.
#include "driver/api/sysman_lookup.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/object/device.hpp"

namespace datum::api {
namespace {

ze_result_t give_none(zes_device_handle_t handle, uint32_t* count) {
  Device* device = nullptr;
  const ze_result_t code = find_managed(handle, count, "pCount", device);
  if (code == ZE_RESULT_SUCCESS) {
    *count = 0;
  }
  return code;
}

}  // namespace

ze_result_t zesDeviceEnumDiagnosticTestSuites(zes_device_handle_t hDevice, uint32_t* pCount,
                                              zes_diag_handle_t*) {
  return give_none(hDevice, pCount);
}

ze_result_t zesDeviceEnumFabricPorts(zes_device_handle_t hDevice, uint32_t* pCount,
                                     zes_fabric_port_handle_t*) {
  return give_none(hDevice, pCount);
}

ze_result_t zesDeviceEnumFans(zes_device_handle_t hDevice, uint32_t* pCount, zes_fan_handle_t*) {
  return give_none(hDevice, pCount);
}

ze_result_t zesDeviceEnumFirmwares(zes_device_handle_t hDevice, uint32_t* pCount, zes_firmware_handle_t*) {
  return give_none(hDevice, pCount);
}

ze_result_t zesDeviceEnumFrequencyDomains(zes_device_handle_t hDevice, uint32_t* pCount, zes_freq_handle_t*) {
  return give_none(hDevice, pCount);
}

ze_result_t zesDeviceEnumLeds(zes_device_handle_t hDevice, uint32_t* pCount, zes_led_handle_t*) {
  return give_none(hDevice, pCount);
}

ze_result_t zesDeviceEnumPerformanceFactorDomains(zes_device_handle_t hDevice, uint32_t* pCount,
                                                  zes_perf_handle_t*) {
  return give_none(hDevice, pCount);
}

ze_result_t zesDeviceEnumPowerDomains(zes_device_handle_t hDevice, uint32_t* pCount, zes_pwr_handle_t*) {
  return give_none(hDevice, pCount);
}

ze_result_t zesDeviceEnumPsus(zes_device_handle_t hDevice, uint32_t* pCount, zes_psu_handle_t*) {
  return give_none(hDevice, pCount);
}

ze_result_t zesDeviceEnumSchedulers(zes_device_handle_t hDevice, uint32_t* pCount, zes_sched_handle_t*) {
  return give_none(hDevice, pCount);
}

ze_result_t zesDeviceEnumStandbyDomains(zes_device_handle_t hDevice, uint32_t* pCount,
                                        zes_standby_handle_t*) {
  return give_none(hDevice, pCount);
}

ze_result_t zesDeviceEnumTemperatureSensors(zes_device_handle_t hDevice, uint32_t* pCount,
                                            zes_temp_handle_t*) {
  return give_none(hDevice, pCount);
}

ze_result_t zesDeviceEnumOverclockDomains(zes_device_handle_t hDevice, uint32_t* pCount,
                                          zes_overclock_handle_t*) {
  return give_none(hDevice, pCount);
}

ze_result_t zesDeviceGetSubDevicePropertiesExp(zes_device_handle_t hDevice, uint32_t* pCount,
                                               zes_subdevice_exp_properties_t*) {
  return give_none(hDevice, pCount);
}

ze_result_t zesDeviceEnumActiveVFExp(zes_device_handle_t hDevice, uint32_t* pCount, zes_vf_handle_t*) {
  return give_none(hDevice, pCount);
}

ze_result_t zesDeviceEnumEnabledVFExp(zes_device_handle_t hDevice, uint32_t* pCount, zes_vf_handle_t*) {
  return give_none(hDevice, pCount);
}

}  // namespace datum::api
