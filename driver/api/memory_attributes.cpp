// Atomic access to shared allocations. The boards' engines know no atomic operations, so what can be asked
// for is that there are none.
#include <fmt/format.h>

#include "driver/api/handles.hpp"
#include "driver/api/result.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"

namespace datum::api {
namespace {

constexpr ze_memory_atomic_attr_exp_flags_t known_atomic_flags = 0x7f;
constexpr ze_memory_atomic_attr_exp_flags_t supported_flags =
    ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_ATOMICS | ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_HOST_ATOMICS |
    ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_DEVICE_ATOMICS | ZE_MEMORY_ATOMIC_ATTR_EXP_FLAG_NO_SYSTEM_ATOMICS;

/// The pages of a shared allocation that a call names.
struct Range {
  std::uint64_t allocation = 0;
  AtomicAttributes::Pages pages;
};

ze_result_t find_range(const Context& context, const void* pointer, std::size_t size, Range& range) {
  const std::optional<Allocation> allocation = context.find(pointer);
  if (!allocation || allocation->kind != AllocationKind::shared) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "ptr is not in a live shared allocation of hContext");
  }
  const std::uint64_t offset = reinterpret_cast<std::uintptr_t>(pointer) - allocation->base;
  if (size == 0 || size > allocation->size_bytes - offset) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  fmt::format("{} bytes from ptr are not a part of its allocation of {} bytes", size,
                              allocation->size_bytes));
  }
  range = {allocation->id,
           {offset / small_page_bytes, align_up(offset + size, small_page_bytes) / small_page_bytes}};
  return ZE_RESULT_SUCCESS;
}

}  // namespace

ze_result_t zeMemSetAtomicAccessAttributeExp(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                             const void* ptr, size_t size,
                                             ze_memory_atomic_attr_exp_flags_t attr) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  if (const ze_result_t code = check_alive(*context); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  Device* device = hDevice != nullptr ? find<Device>(hDevice) : nullptr;
  if (hDevice != nullptr && device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (ptr == nullptr) {
    return refuse_null_pointer("ptr");
  }
  if (attr > known_atomic_flags) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "attr has bits that mean nothing");
  }
  if (device != nullptr) {
    if (const ze_result_t code = check_membership(*context, *device); code != ZE_RESULT_SUCCESS) {
      return code;
    }
  }
  if ((attr & ~supported_flags) != 0) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "attr allows atomic accesses, which no memory of this device supports: "
                  "zeDeviceGetMemoryAccessProperties");
  }
  Range range;
  if (const ze_result_t code = find_range(*context, ptr, size, range); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  for (const Device* one : context->devices()) {
    if (device == nullptr || device == one) {
      context->atomic_attributes().set(range.allocation, one->index(), range.pages, attr);
    }
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t zeMemGetAtomicAccessAttributeExp(ze_context_handle_t hContext, ze_device_handle_t hDevice,
                                             const void* ptr, size_t size,
                                             ze_memory_atomic_attr_exp_flags_t* pAttr) {
  Context* context = find<Context>(hContext);
  if (context == nullptr) {
    return refuse_handle(hContext, "hContext");
  }
  Device* device = find<Device>(hDevice);
  if (device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (ptr == nullptr) {
    return refuse_null_pointer("ptr");
  }
  if (pAttr == nullptr) {
    return refuse_null_pointer("pAttr");
  }
  if (const ze_result_t code = check_membership(*context, *device); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  Range range;
  if (const ze_result_t code = find_range(*context, ptr, size, range); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  const std::optional<std::uint32_t> attributes =
      context->atomic_attributes().get(range.allocation, device->index(), range.pages);
  if (!attributes) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the range was given different attributes in its parts");
  }
  *pAttr = *attributes;
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
