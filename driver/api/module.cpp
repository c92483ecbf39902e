// Chapter "module": the boards copy, they have nothing that could run a kernel.
#include "driver/api/handles.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"

namespace datum::api {

ze_result_t zeModuleCreate(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                           const ze_module_desc_t* desc, ze_module_handle_t* phModule,
                           ze_module_build_log_handle_t*) {
  if (find<Context>(hContext) == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (find<Device>(hDevice) == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (desc == nullptr) {
    return refuse_null_pointer("desc");
  }
  if (phModule == nullptr) {
    return refuse_null_pointer("phModule");
  }
  return refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                "the board copies memory and has no compute units, so no module can be built for it");
}

}  // namespace datum::api
