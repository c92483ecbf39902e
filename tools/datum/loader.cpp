#include "tools/datum/loader.hpp"

#include <dlfcn.h>

#include <fmt/format.h>

namespace datum::tool {

namespace {

constexpr const char* loader_file = "libze_loader.so.1";

template <class Function>
void look_up(void* library, const char* name, Function& function) {
  // POSIX gives functions as object pointers; this is the way back that the language accepts.
  function = reinterpret_cast<Function>(::dlsym(library, name));
}

}  // namespace

Result<Loader> open_loader() {
  void* const library = ::dlopen(loader_file, RTLD_NOW | RTLD_GLOBAL);
  if (library == nullptr) {
    return make_error(ErrorCode::dependency_unavailable,
                      fmt::format("the Level Zero loader cannot be loaded: {}", ::dlerror()),
                      "install it (Debian: apt install libze1)");
  }
  Loader loader;
  look_up(library, "zeInit", loader.init);
  look_up(library, "zeInitDrivers", loader.init_drivers);
  look_up(library, "zeDriverGet", loader.driver_get);
  look_up(library, "zeDriverGetProperties", loader.driver_properties);
  look_up(library, "zeDriverGetApiVersion", loader.driver_api_version);
  look_up(library, "zeDriverGetExtensionProperties", loader.driver_extensions);
  look_up(library, "zeDeviceGet", loader.device_get);
  look_up(library, "zeDeviceGetProperties", loader.device_properties);
  look_up(library, "zeDeviceGetMemoryProperties", loader.device_memories);
  look_up(library, "zeDeviceGetCommandQueueGroupProperties", loader.device_queue_groups);
  look_up(library, "zeDevicePciGetPropertiesExt", loader.device_pci);
  if (loader.init == nullptr || loader.driver_get == nullptr || loader.driver_properties == nullptr ||
      loader.driver_api_version == nullptr || loader.driver_extensions == nullptr ||
      loader.device_get == nullptr || loader.device_properties == nullptr ||
      loader.device_memories == nullptr || loader.device_queue_groups == nullptr) {
    return make_error(ErrorCode::dependency_unavailable,
                      fmt::format("{} is no Level Zero loader: functions are missing", loader_file),
                      "look for another library of that name with 'ldconfig -p' and in LD_LIBRARY_PATH");
  }
  return loader;
}

}  // namespace datum::tool
