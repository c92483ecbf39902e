#include "driver/api/handles.hpp"

#include <fmt/format.h>

#include "driver/object/context.hpp"

namespace datum::api {
namespace {

ze_result_t refuse_argument(ze_result_t code, std::string_view name, std::string_view what) noexcept {
  fmt::basic_memory_buffer<char, 256> text;  // names are short: no allocation, nothing to throw
  text.append(name);
  text.append(what);
  return refuse(code, {text.data(), text.size()});
}

}  // namespace

ze_result_t refuse_handle(const void* handle, std::string_view name) noexcept {
  if (handle == nullptr) {
    return refuse_argument(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, name, " is null");
  }
  if (is_handle_of_other_process(handle)) {
    return refuse_argument(ZE_RESULT_ERROR_UNINITIALIZED, name,
                           " belongs to the process that this one was forked from; initialise the driver in "
                           "this process and get handles of its own");
  }
  return refuse_argument(
      ZE_RESULT_ERROR_INVALID_NULL_HANDLE, name,
      " is not a live handle of its type: it was destroyed, is of another type, or never was one");
}

ze_result_t refuse_extension() noexcept {
  return refuse(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
                "this function takes no structure on pNext from any extension");
}

ze_result_t refuse_foreign_device() noexcept {
  return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "hDevice is not a device of hContext");
}

ze_result_t check_membership(const Context& context, const Device& device) noexcept {
  return context.has(device) ? ZE_RESULT_SUCCESS : refuse_foreign_device();
}

ze_result_t check_alive(Context& context) noexcept {
  Status alive = context.alive();
  return alive.ok() ? ZE_RESULT_SUCCESS : answer(alive);
}

ze_result_t refuse_null_pointer(std::string_view name) noexcept {
  return refuse_argument(ZE_RESULT_ERROR_INVALID_NULL_POINTER, name, " is null");
}

}  // namespace datum::api
