#include "driver/api/result.hpp"

#include <algorithm>
#include <array>
#include <cstring>

namespace datum::api {
namespace {

// Plain memory without a destructor: static objects of the application may call the driver after the thread's
// objects are gone.
constinit thread_local std::array<char, 1024> description{};

class Writer {
 public:
  void add(std::string_view text) noexcept {
    const std::size_t count = std::min(text.size(), description.size() - 1 - used_);
    std::memcpy(description.data() + used_, text.data(), count);
    used_ += count;
    description[used_] = '\0';
  }

 private:
  std::size_t used_ = 0;
};

}  // namespace

ze_result_t result_of(ErrorCode code) noexcept {
  switch (code) {
  case ErrorCode::not_ready:
    return ZE_RESULT_NOT_READY;
  case ErrorCode::device_lost:
    return ZE_RESULT_ERROR_DEVICE_LOST;
  case ErrorCode::out_of_host_memory:
    return ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY;
  case ErrorCode::out_of_device_memory:
    return ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY;
  case ErrorCode::insufficient_permissions:
    return ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS;
  case ErrorCode::not_available:
    return ZE_RESULT_ERROR_NOT_AVAILABLE;
  case ErrorCode::dependency_unavailable:
    return ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE;
  case ErrorCode::uninitialized:
    return ZE_RESULT_ERROR_UNINITIALIZED;
  case ErrorCode::unsupported_version:
    return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
  case ErrorCode::unsupported_feature:
    return ZE_RESULT_ERROR_UNSUPPORTED_FEATURE;
  case ErrorCode::invalid_argument:
    return ZE_RESULT_ERROR_INVALID_ARGUMENT;
  case ErrorCode::invalid_null_handle:
    return ZE_RESULT_ERROR_INVALID_NULL_HANDLE;
  case ErrorCode::handle_object_in_use:
    return ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE;
  case ErrorCode::invalid_null_pointer:
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  case ErrorCode::invalid_size:
    return ZE_RESULT_ERROR_INVALID_SIZE;
  case ErrorCode::unsupported_size:
    return ZE_RESULT_ERROR_UNSUPPORTED_SIZE;
  case ErrorCode::unsupported_alignment:
    return ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT;
  case ErrorCode::invalid_synchronization_object:
    return ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT;
  case ErrorCode::invalid_enumeration:
    return ZE_RESULT_ERROR_INVALID_ENUMERATION;
  case ErrorCode::unsupported_enumeration:
    return ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION;
  case ErrorCode::invalid_command_list_type:
    return ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE;
  case ErrorCode::overlapping_regions:
    return ZE_RESULT_ERROR_OVERLAPPING_REGIONS;
  case ErrorCode::address_not_found:
    return ZE_RESULT_ERROR_ADDRESS_NOT_FOUND;
  case ErrorCode::unknown:
    return ZE_RESULT_ERROR_UNKNOWN;
  }
  return ZE_RESULT_ERROR_UNKNOWN;
}

ze_result_t answer(const Error& error) noexcept {
  // A wait that ended at its time limit is an answer and no error: it has nothing to describe.
  if (error.code == ErrorCode::not_ready) {
    return ZE_RESULT_NOT_READY;
  }
  Writer writer;
  writer.add(error.message);
  if (error.errno_value != 0) {
    const char* known = ::strerrordesc_np(error.errno_value);
    const std::string_view name = known != nullptr ? known : "unknown system error";
    if (error.message.find(name) == std::string::npos) {
      writer.add(" (");
      writer.add(name);
      writer.add(")");
    }
  }
  if (!error.hint.empty()) {
    writer.add("; ");
    writer.add(error.hint);
  }
  return result_of(error.code);
}

ze_result_t answer(const Status& status) noexcept {
  return status.ok() ? ZE_RESULT_SUCCESS : answer(status.error());
}

ze_result_t refuse(ze_result_t code, std::string_view sentence) noexcept {
  Writer writer;
  writer.add(sentence);
  return code;
}

const char* last_error_description() noexcept { return description.data(); }

}  // namespace datum::api
