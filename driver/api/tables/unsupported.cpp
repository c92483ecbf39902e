#include "driver/api/tables/unsupported.hpp"

#include <string>

#include "driver/api/result.hpp"

namespace datum::api {

ze_result_t refuse_unbuilt(std::string_view function) noexcept {
  try {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                  std::string(function) + " is not built in this driver; docs/api-support.md lists what is");
  } catch (...) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, function);
  }
}

}  // namespace datum::api
