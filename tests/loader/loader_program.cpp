// A Level Zero program that does what its arguments say, one step each, and prints what the API answered.
//
// It is linked with the stock loader and knows nothing of the driver. Functions that an old loader lacks are
// looked up by name.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>
#include <string_view>
#include <thread>
#include <vector>

#include <level_zero/ze_api.h>
#include <level_zero/zes_api.h>

namespace {

template <class Function>
Function* find(const char* name) {
  return reinterpret_cast<Function*>(dlsym(RTLD_DEFAULT, name));
}

void print(const char* what, ze_result_t result) {
  std::printf("%s: 0x%x\n", what, static_cast<unsigned>(result));
}

std::vector<ze_driver_handle_t> init_drivers(const char* label, ze_init_driver_type_flags_t flags) {
  auto* const function = find<decltype(zeInitDrivers)>("zeInitDrivers");
  if (function == nullptr) {
    std::printf("%s: absent\n", label);
    return {};
  }
  ze_init_driver_type_desc_t desc{ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC, nullptr, flags};
  std::uint32_t count = 0;
  ze_result_t result = function(&count, nullptr, &desc);
  std::vector<ze_driver_handle_t> drivers(count);
  if (result == ZE_RESULT_SUCCESS) {
    result = function(&count, drivers.data(), &desc);
  }
  std::printf("%s: 0x%x, drivers %u\n", label, static_cast<unsigned>(result), count);
  return drivers;
}

std::vector<ze_driver_handle_t> get_drivers() {
  std::uint32_t count = 0;
  ze_result_t result = zeDriverGet(&count, nullptr);
  std::vector<ze_driver_handle_t> drivers(count);
  if (result == ZE_RESULT_SUCCESS) {
    result = zeDriverGet(&count, drivers.data());
  }
  std::printf("zeDriverGet: 0x%x, drivers %u\n", static_cast<unsigned>(result), count);
  return drivers;
}

void use_driver(ze_driver_handle_t driver) {
  ze_driver_properties_t properties{ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES, nullptr, {}, 0};
  print("zeDriverGetProperties", zeDriverGetProperties(driver, &properties));
  void* object = nullptr;
  std::memcpy(&object, &properties.uuid, sizeof(object));
  std::printf("driver handle: %s\n", object == driver ? "the driver's own" : "the loader's");
  std::uint32_t count = 1;
  ze_device_handle_t device = nullptr;
  print("zeDeviceGet", zeDeviceGet(driver, &count, &device));
  ze_device_properties_t device_properties{};
  device_properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  print("zeDeviceGetProperties", zeDeviceGetProperties(device, &device_properties));
  std::printf("device: type %d, name %s\n", static_cast<int>(device_properties.type), device_properties.name);
}

void use_memory(ze_driver_handle_t driver) {
  const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  ze_context_handle_t context = nullptr;
  print("zeContextCreate", zeContextCreate(driver, &desc, &context));
  const ze_host_mem_alloc_desc_t host_desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  void* pointer = nullptr;
  print("zeMemAllocHost", zeMemAllocHost(context, &host_desc, 64, 8, &pointer));
  std::memset(pointer, 1, 64);
  print("zeMemFree", zeMemFree(context, pointer));
  ze_sampler_handle_t sampler = nullptr;
  ze_sampler_desc_t sampler_desc{};
  sampler_desc.stype = ZE_STRUCTURE_TYPE_SAMPLER_DESC;
  std::uint32_t count = 1;
  ze_device_handle_t device = nullptr;
  zeDeviceGet(driver, &count, &device);
  print("zeSamplerCreate", zeSamplerCreate(context, device, &sampler_desc, &sampler));
  print("zeContextDestroy", zeContextDestroy(context));
}

void use_sysman() {
  auto* const init = find<decltype(zesInit)>("zesInit");
  auto* const driver_get = find<decltype(zesDriverGet)>("zesDriverGet");
  auto* const device_get = find<decltype(zesDeviceGet)>("zesDeviceGet");
  if (init == nullptr || driver_get == nullptr || device_get == nullptr) {
    std::printf("zesInit: absent\n");
    return;
  }
  print("zesInit", init(0));
  std::uint32_t count = 0;
  ze_result_t result = driver_get(&count, nullptr);
  std::printf("zesDriverGet: 0x%x, drivers %u\n", static_cast<unsigned>(result), count);
  std::vector<zes_driver_handle_t> drivers(count);
  driver_get(&count, drivers.data());
  for (const zes_driver_handle_t driver : drivers) {
    std::uint32_t devices = 0;
    result = device_get(driver, &devices, nullptr);
    std::printf("zesDeviceGet: 0x%x, devices %u\n", static_cast<unsigned>(result), devices);
  }
}

/// Threads that initialise at once, each with one of the functions that make a loader ask for tables.
void init_concurrently() {
  auto* const drivers = find<decltype(zeInitDrivers)>("zeInitDrivers");
  auto* const sysman = find<decltype(zesInit)>("zesInit");
  const auto initialise = [&](int kind) {
    if (kind == 1 && drivers != nullptr) {
      ze_init_driver_type_desc_t desc{ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC, nullptr, UINT32_MAX};
      std::uint32_t count = 0;
      return drivers(&count, nullptr, &desc);
    }
    return kind == 2 && sysman != nullptr ? sysman(0) : zeInit(0);
  };
  std::vector<ze_result_t> results(6, ZE_RESULT_ERROR_UNKNOWN);
  std::vector<std::thread> threads;
  for (std::size_t index = 0; index < results.size(); ++index) {
    threads.emplace_back([&, index] { results[index] = initialise(static_cast<int>(index % 3)); });
  }
  for (std::thread& thread : threads) {
    thread.join();
  }
  for (const ze_result_t result : results) {
    print("init in a thread", result);
  }
}

bool run_step(std::string_view step, std::vector<ze_driver_handle_t>& drivers) {
  if (step == "init") {
    print("zeInit", zeInit(0));
  } else if (step == "init-gpu") {
    print("zeInit(GPU_ONLY)", zeInit(ZE_INIT_FLAG_GPU_ONLY));
  } else if (step == "init-drivers") {
    drivers = init_drivers("zeInitDrivers", UINT32_MAX);
  } else if (step == "init-drivers-gpu") {
    init_drivers("zeInitDrivers(GPU)", ZE_INIT_DRIVER_TYPE_FLAG_GPU);
  } else if (step == "init-concurrently") {
    init_concurrently();
  } else if (step == "get-drivers") {
    drivers = get_drivers();
  } else if (step == "use-drivers") {
    for (const ze_driver_handle_t driver : drivers) {
      use_driver(driver);
      use_memory(driver);
    }
  } else if (step == "sysman") {
    use_sysman();
  } else if (step == "null-handle") {
    print("zeDeviceGetStatus(null)", zeDeviceGetStatus(nullptr));
  } else {
    return false;
  }
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);  // what was printed before a crash is the clue to it
  std::vector<ze_driver_handle_t> drivers;
  for (int index = 1; index < argc; ++index) {
    if (!run_step(argv[index], drivers)) {
      std::fprintf(stderr, "loader_program: unknown step '%s'\n", argv[index]);
      return EXIT_FAILURE;
    }
  }
  return EXIT_SUCCESS;
}
