// Cache reservation, and what else asks for parts that a board which only copies does not have.
#include "driver/api/handles.hpp"
#include "driver/api/result.hpp"
#include "driver/api/tables/entry_points.hpp"

namespace datum::api {

ze_result_t zeDeviceReserveCacheExt(ze_device_handle_t hDevice, size_t, size_t) {
  return find<Device>(hDevice) == nullptr
             ? refuse_handle(hDevice, "hDevice")
             : refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "the device has no cache that could be reserved");
}

ze_result_t zeDeviceSetCacheAdviceExt(ze_device_handle_t hDevice, void* ptr, size_t,
                                      ze_cache_ext_region_t cacheRegion) {
  if (find<Device>(hDevice) == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (ptr == nullptr) {
    return refuse_null_pointer("ptr");
  }
  if (cacheRegion > ZE_CACHE_EXT_REGION_NON_RESERVED) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "cacheRegion is no region of a cache");
  }
  return refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "the device has no cache that could be reserved");
}

ze_result_t zeDeviceGetVectorWidthPropertiesExt(ze_device_handle_t hDevice, uint32_t* pCount,
                                                ze_device_vector_width_properties_ext_t*) {
  if (find<Device>(hDevice) == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (pCount == nullptr) {
    return refuse_null_pointer("pCount");
  }
  *pCount = 0;  // no kernels, no vectors
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
