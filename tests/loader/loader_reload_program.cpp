// Loads the loader named by its argument, initialises, unloads it, and does so again: twice in the life of
// one process.

#include <cstdint>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <dlfcn.h>

#include <level_zero/ze_api.h>

namespace {

/// Whether a file whose path contains `part` is mapped into this process.
bool is_mapped(const char* part) {
  std::FILE* const maps = std::fopen("/proc/self/maps", "r");
  char line[4096];
  bool found = false;
  while (maps != nullptr && std::fgets(line, sizeof(line), maps) != nullptr) {
    found = found || std::strstr(line, part) != nullptr;
  }
  if (maps != nullptr) {
    std::fclose(maps);
  }
  return found;
}

bool live_once(const char* loader) {
  void* const library = dlopen(loader, RTLD_NOW | RTLD_LOCAL);
  if (library == nullptr) {
    std::printf("%s\n", dlerror());
    return false;
  }
  const auto init = reinterpret_cast<decltype(&zeInit)>(dlsym(library, "zeInit"));
  const auto driver_get = reinterpret_cast<decltype(&zeDriverGet)>(dlsym(library, "zeDriverGet"));
  const ze_result_t initialised = init(0);
  std::uint32_t count = 0;
  const ze_result_t got = driver_get(&count, nullptr);
  std::printf("zeInit: 0x%x, zeDriverGet: 0x%x, drivers %u\n", static_cast<unsigned>(initialised),
              static_cast<unsigned>(got), count);
  dlclose(library);
  std::printf("driver mapped after unloading: %s\n", is_mapped("libze_tables_probe") ? "yes" : "no");
  return true;
}

}  // namespace

int main(int argc, char** argv) {
  std::setvbuf(stdout, nullptr, _IONBF, 0);
  return argc == 2 && live_once(argv[1]) && live_once(argv[1]) ? EXIT_SUCCESS : EXIT_FAILURE;
}
