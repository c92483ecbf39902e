// Freeing allocations, at once or with regard to the commands that use them.
#include "driver/api/handles.hpp"
#include "driver/api/result.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/object/context.hpp"

namespace datum::api {
namespace {

using Policies = ze_driver_memory_free_policy_ext_flags_t;
constexpr Policies blocking = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE;
constexpr Policies deferring = ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE;

ze_result_t check_description(const ze_memory_free_ext_desc_t& desc) {
  if (desc.freePolicy > (blocking | deferring)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "pMemFreeDesc->freePolicy has bits that mean nothing");
  }
  if (desc.stype != ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "pMemFreeDesc->stype is not ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC");
  }
  if (desc.freePolicy == (blocking | deferring)) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
                  "pMemFreeDesc->freePolicy asks to wait and not to wait; it is one policy or 0");
  }
  return ZE_RESULT_SUCCESS;
}

}  // namespace

ze_result_t zeMemFree(ze_context_handle_t hContext, void* ptr) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  return ptr != nullptr ? answer(context->free(ptr)) : refuse_null_pointer("ptr");
}

ze_result_t zeMemFreeExt(ze_context_handle_t hContext, const ze_memory_free_ext_desc_t* pMemFreeDesc,
                         void* ptr) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (pMemFreeDesc == nullptr) {
    return refuse_null_pointer("pMemFreeDesc");
  }
  if (ptr == nullptr) {
    return refuse_null_pointer("ptr");
  }
  if (const ze_result_t code = check_description(*pMemFreeDesc); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  if (pMemFreeDesc->freePolicy == blocking) {
    return answer(context->free_when_unused(ptr));
  }
  return answer(pMemFreeDesc->freePolicy == deferring ? context->free_after_use(ptr) : context->free(ptr));
}

}  // namespace datum::api
