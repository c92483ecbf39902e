#include "tests/support/process_resources.hpp"

#include <dirent.h>
#include <fstream>
#include <string>
#include <unistd.h>

namespace datum::test {
namespace {

std::size_t entries(const char* folder) {
  DIR* directory = ::opendir(folder);
  if (directory == nullptr) {
    return 0;
  }
  std::size_t count = 0;
  while (const dirent* entry = ::readdir(directory)) {
    if (entry->d_name[0] != '.') {
      ++count;
    }
  }
  ::closedir(directory);
  return count;
}

}  // namespace

std::size_t open_descriptors() { return entries("/proc/self/fd") - 1; }  // one of them is the folder itself

std::size_t thread_count() { return entries("/proc/self/task"); }

std::size_t memory_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    ++count;
  }
  return count;
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace datum::test
