// Management interface: sets of errors. A board whose memory is protected has two, of words that were
// corrected and of words that could not be. Nothing triggers events, so there are no thresholds.
#include <algorithm>
#include <array>

#include "driver/api/sysman_lookup.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/device/error_set.hpp"
#include "driver/object/device.hpp"

namespace datum::api {
namespace {

constexpr zes_ras_error_category_exp_t only_category = ZES_RAS_ERROR_CATEGORY_EXP_MEMORY_ERRORS;
constexpr zes_ras_error_category_exp_t last_category = ZES_RAS_ERROR_CATEGORY_EXP_SOC_INTERNAL_ERRORS;
/// What the older function has that comes closest to memory.
constexpr zes_ras_error_cat_t only_older_category = ZES_RAS_ERROR_CAT_NON_COMPUTE_ERRORS;

ErrorSet* find_set(zes_ras_handle_t handle) {
  return static_cast<ErrorSet*>(find_object(ObjectType::sysman_errors, handle));
}

/// How many of one element the caller wants and gets: none when it only asks how many there are.
std::uint32_t take_count(std::uint32_t* count, bool has_output) {
  const std::uint32_t taken = has_output ? std::min(*count, 1U) : 0;
  *count = 1;
  return taken;
}

}  // namespace

ze_result_t zesDeviceEnumRasErrorSets(zes_device_handle_t hDevice, uint32_t* pCount,
                                      zes_ras_handle_t* phRas) {
  Device* device = nullptr;
  if (const ze_result_t code = find_managed(hDevice, pCount, "pCount", device); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  const std::uint32_t available = device->error_set_count();
  const std::uint32_t wanted = phRas != nullptr ? *pCount : 0;
  *pCount = wanted == 0 ? available : std::min(wanted, available);
  for (std::uint32_t index = 0; wanted != 0 && index < *pCount; ++index) {
    phRas[index] = reinterpret_cast<zes_ras_handle_t>(device->sysman_errors(index));
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t zesRasGetProperties(zes_ras_handle_t hRas, zes_ras_properties_t* pProperties) {
  const ErrorSet* set = find_set(hRas);
  if (set == nullptr) {
    return refuse_handle(hRas, "hRas");
  }
  if (pProperties == nullptr) {
    return refuse_null_pointer("pProperties");
  }
  pProperties->type = set->kind() == ErrorSet::Kind::corrected ? ZES_RAS_ERROR_TYPE_CORRECTABLE
                                                               : ZES_RAS_ERROR_TYPE_UNCORRECTABLE;
  pProperties->onSubdevice = 0;
  pProperties->subdeviceId = 0;
  return ZE_RESULT_SUCCESS;
}

ze_result_t zesRasGetState(zes_ras_handle_t hRas, ze_bool_t clear, zes_ras_state_t* pState) {
  ErrorSet* set = find_set(hRas);
  if (set == nullptr) {
    return refuse_handle(hRas, "hRas");
  }
  if (pState == nullptr) {
    return refuse_null_pointer("pState");
  }
  const Result<std::uint64_t> count = set->count();
  if (!count) {
    return answer(count.error());
  }
  std::ranges::fill(pState->category, 0);
  pState->category[only_older_category] = *count;
  return clear != 0 ? answer(set->clear()) : ZE_RESULT_SUCCESS;
}

ze_result_t zesRasGetStateExp(zes_ras_handle_t hRas, uint32_t* pCount, zes_ras_state_exp_t* pState) {
  ErrorSet* set = find_set(hRas);
  if (set == nullptr) {
    return refuse_handle(hRas, "hRas");
  }
  if (pCount == nullptr) {
    return refuse_null_pointer("pCount");
  }
  const Result<std::uint64_t> count = set->count();
  if (!count) {
    return answer(count.error());
  }
  if (take_count(pCount, pState != nullptr) != 0) {
    *pState = {only_category, *count};
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t zesRasClearStateExp(zes_ras_handle_t hRas, zes_ras_error_category_exp_t category) {
  ErrorSet* set = find_set(hRas);
  if (set == nullptr) {
    return refuse_handle(hRas, "hRas");
  }
  if (category > last_category) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "category is no category of errors");
  }
  if (category != only_category) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "the board counts errors of its memory only");
  }
  return answer(set->clear());
}

ze_result_t zesRasGetSupportedCategoriesExp(zes_ras_handle_t hRas, uint32_t* pCount,
                                            zes_ras_error_category_exp_t* pCategories) {
  if (find_set(hRas) == nullptr) {
    return refuse_handle(hRas, "hRas");
  }
  if (pCount == nullptr) {
    return refuse_null_pointer("pCount");
  }
  if (take_count(pCount, pCategories != nullptr) != 0) {
    *pCategories = only_category;
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t zesRasGetStateExp2(zes_ras_handle_t hRas, const uint32_t count,
                               const zes_ras_error_category_exp_t* pCategories,
                               zes_ras_state_exp2_t* pState) {
  ErrorSet* set = find_set(hRas);
  if (set == nullptr) {
    return refuse_handle(hRas, "hRas");
  }
  if (pCategories == nullptr) {
    return refuse_null_pointer("pCategories");
  }
  if (pState == nullptr) {
    return refuse_null_pointer("pState");
  }
  for (std::uint32_t index = 0; index < count; ++index) {
    if (pCategories[index] > last_category) {
      return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "pCategories has what is no category of errors");
    }
    if (pCategories[index] != only_category) {
      return refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "the board counts errors of its memory only");
    }
  }
  const Result<std::uint64_t> counted = set->count();
  if (!counted) {
    return answer(counted.error());
  }
  for (std::uint32_t index = 0; index < count; ++index) {
    pState[index].errorCounter = *counted;
  }
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
