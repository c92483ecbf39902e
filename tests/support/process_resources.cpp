#include "tests/support/process_resources.hpp"

#include <filesystem>
#include <fstream>
#include <sstream>
#include <string>
#include <system_error>
#include <unistd.h>

namespace datum::test {
namespace {

/// Whether a task is on its way out, by the flags of proc(5), stat: pthread_join returns before the kernel
/// takes the task out of its list.
bool ends(const std::filesystem::path& stat) {
  constexpr unsigned long pf_exiting = 0x4;
  std::ifstream file(stat);
  std::string line;
  if (!std::getline(file, line)) {
    return true;
  }
  std::istringstream words(line.substr(line.rfind(')') + 1));
  std::string skipped;
  for (int word = 0; word < 6; ++word) {  // state, ppid, pgrp, session, tty_nr, tpgid
    words >> skipped;
  }
  unsigned long flags = 0;
  words >> flags;
  return (flags & pf_exiting) != 0;
}

}  // namespace

std::size_t open_descriptors() {
  std::size_t count = 0;
  for (const auto& entry : std::filesystem::directory_iterator("/proc/self/fd")) {
    std::error_code gone;
    const std::string what = std::filesystem::read_symlink(entry.path(), gone).string();
    count += gone || what.starts_with("/proc/") ? 0 : 1;
  }
  return count;
}

std::size_t thread_count() {
  std::size_t count = 0;
  for (const auto& task : std::filesystem::directory_iterator("/proc/self/task")) {
    count += ends(task.path() / "stat") ? 0 : 1;
  }
  return count;
}

std::size_t memory_mappings() {
  std::ifstream maps("/proc/self/maps");
  std::size_t count = 0;
  for (std::string line; std::getline(maps, line);) {
    ++count;
  }
  return count;
}

std::uint64_t mapped_file_bytes(std::string_view name) {
  const std::string wanted = "/memfd:" + std::string(name);
  std::ifstream maps("/proc/self/maps");
  std::uint64_t bytes = 0;
  for (std::string line; std::getline(maps, line);) {
    if (line.find(wanted) != std::string::npos) {
      std::size_t dash = 0;
      const std::uint64_t first = std::stoull(line, &dash, 16);
      bytes += std::stoull(line.substr(dash + 1), nullptr, 16) - first;
    }
  }
  return bytes;
}

std::size_t resident_bytes() {
  std::ifstream statm("/proc/self/statm");
  std::size_t total = 0;
  std::size_t resident = 0;
  statm >> total >> resident;
  return resident * static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
}

}  // namespace datum::test
