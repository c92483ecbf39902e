#include "driver/api/host_pointer_functions.hpp"

#include "driver/api/handles.hpp"
#include "driver/object/driver.hpp"
#include "driver/object/host_pointers.hpp"

namespace datum::api {
namespace {

/// The driver and a pointer that is there; else null and why.
Driver* find_for(ze_driver_handle_t handle, const void* pointer, ze_result_t& code) noexcept {
  Driver* driver = find<Driver>(handle);
  if (driver == nullptr) {
    code = refuse_handle(handle, "hDriver");
  } else if (pointer == nullptr) {
    code = refuse_null_pointer("ptr");
    driver = nullptr;
  }
  return driver;
}

/// No exception leaves a function that C calls.
template <class Work>
ze_result_t guarded(Work&& work) noexcept {
  try {
    return work();
  } catch (...) {
    return refuse(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "no memory for the call");
  }
}

ze_result_t ZE_APICALL import_pointer(ze_driver_handle_t hDriver, void* ptr, size_t size) noexcept {
  ze_result_t code = ZE_RESULT_SUCCESS;
  Driver* const driver = find_for(hDriver, ptr, code);
  return driver == nullptr ? code
                           : guarded([&] { return answer(driver->host_pointers().import(ptr, size)); });
}

ze_result_t ZE_APICALL release_pointer(ze_driver_handle_t hDriver, void* ptr) noexcept {
  ze_result_t code = ZE_RESULT_SUCCESS;
  Driver* const driver = find_for(hDriver, ptr, code);
  return driver == nullptr ? code : guarded([&] { return answer(driver->host_pointers().release(ptr)); });
}

ze_result_t ZE_APICALL get_base(ze_driver_handle_t hDriver, void* ptr, void** baseAddress) noexcept {
  ze_result_t code = ZE_RESULT_SUCCESS;
  Driver* const driver = find_for(hDriver, ptr, code);
  if (driver == nullptr) {
    return code;
  }
  if (baseAddress == nullptr) {
    return refuse_null_pointer("baseAddress");
  }
  return guarded([&] {
    const Result<void*> base = driver->host_pointers().base_of(ptr);
    if (!base) {
      return answer(base.error());
    }
    *baseAddress = *base;
    return ZE_RESULT_SUCCESS;
  });
}

}  // namespace

void* find_host_pointer_function(std::string_view name) noexcept {
  if (name == "zexDriverImportExternalPointer") {
    return reinterpret_cast<void*>(&import_pointer);
  }
  if (name == "zexDriverReleaseImportedPointer") {
    return reinterpret_cast<void*>(&release_pointer);
  }
  if (name == "zexDriverGetHostPointerBaseAddress") {
    return reinterpret_cast<void*>(&get_base);
  }
  return nullptr;
}

}  // namespace datum::api
