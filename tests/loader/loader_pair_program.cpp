// Two loaders in one process, as where a program and a module that it loads bring one each: loads those that
// its arguments name, moves memory through both by turns, unloads the first, and moves memory through the
// other.

#include <cstddef>
#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#include <level_zero/ze_api.h>

namespace {

constexpr std::size_t bytes = 20'000;

/// A loader and, once it is initialised, what it has.
struct Loader {
  void* library = nullptr;
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
};

template <class Function>
Function* find(const Loader& loader, const char* name) {
  return reinterpret_cast<Function*>(dlsym(loader.library, name));
}

bool succeeded(const char* what, ze_result_t result) {
  if (result != ZE_RESULT_SUCCESS) {
    std::printf("%s: 0x%x\n", what, static_cast<unsigned>(result));
  }
  return result == ZE_RESULT_SUCCESS;
}

/// The call of a loader's function; false, and a line of output, unless it succeeds.
#define CALL(loader, function, ...)                                                                          \
  succeeded(#function, find<decltype(function)>(loader, #function)(__VA_ARGS__))

bool load(Loader& loader, const char* path) {
  loader.library = dlopen(path, RTLD_NOW | RTLD_LOCAL);
  if (loader.library == nullptr) {
    std::printf("%s\n", dlerror());
    return false;
  }
  std::uint32_t drivers = 0;
  std::uint32_t devices = 1;
  if (!CALL(loader, zeInit, 0) || !CALL(loader, zeDriverGet, &drivers, nullptr) || drivers != 1) {
    std::printf("%u drivers\n", drivers);
    return false;
  }
  return CALL(loader, zeDriverGet, &drivers, &loader.driver) &&
         CALL(loader, zeDeviceGet, loader.driver, &devices, &loader.device);
}

/// Through memory of the device, and back.
bool move(const Loader& loader, ze_context_handle_t context, unsigned char* memory) {
  ze_command_queue_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  desc.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
  ze_command_list_handle_t list = nullptr;
  ze_device_mem_alloc_desc_t device_desc{};
  device_desc.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
  void* block = nullptr;
  for (std::size_t index = 0; index < bytes; ++index) {
    memory[index] = static_cast<unsigned char>(index * 7 + index / 251);
  }
  if (!CALL(loader, zeCommandListCreateImmediate, context, loader.device, &desc, &list) ||
      !CALL(loader, zeMemAllocDevice, context, &device_desc, bytes, 1, loader.device, &block) ||
      !CALL(loader, zeCommandListAppendMemoryCopy, list, block, memory, bytes, nullptr, 0, nullptr) ||
      !CALL(loader, zeCommandListAppendMemoryCopy, list, memory + bytes, block, bytes, nullptr, 0, nullptr) ||
      !CALL(loader, zeMemFree, context, block) || !CALL(loader, zeCommandListDestroy, list)) {
    return false;
  }
  const bool same = std::memcmp(memory, memory + bytes, bytes) == 0;
  std::memset(memory, 0, 2 * bytes);
  std::printf("copied: %s\n", same ? "right" : "wrong");
  return same;
}

bool work(const Loader& loader) {
  const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  const ze_host_mem_alloc_desc_t host_desc{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  ze_context_handle_t context = nullptr;
  void* memory = nullptr;
  return CALL(loader, zeContextCreate, loader.driver, &desc, &context) &&
         CALL(loader, zeMemAllocHost, context, &host_desc, 2 * bytes, 1, &memory) &&
         move(loader, context, static_cast<unsigned char*>(memory)) &&
         CALL(loader, zeMemFree, context, memory) && CALL(loader, zeContextDestroy, context);
}

bool run(const char* first_path, const char* second_path) {
  Loader first;
  Loader second;
  if (!load(first, first_path) || !load(second, second_path)) {
    return false;
  }
  std::printf("loaders: %s\n", first.library != second.library ? "two" : "one");
  if (!work(first) || !work(second) || !work(first)) {
    return false;
  }
  dlclose(first.library);
  return work(second);
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  return argc == 3 && run(argv[1], argv[2]) ? EXIT_SUCCESS : EXIT_FAILURE;
}
