#include "driver/memory/host_limits.hpp"

#include <algorithm>
#include <cerrno>
#include <cstdint>
#include <cstring>
#include <fstream>
#include <iterator>
#include <optional>
#include <sys/resource.h>

#include <fmt/format.h>

namespace datum {
namespace {

struct Cause {
  std::string limit;
  std::string cure;
};

std::optional<std::uint64_t> limit_of(__rlimit_resource resource) noexcept {
  rlimit limit{};
  if (::getrlimit(resource, &limit) != 0 || limit.rlim_cur == RLIM_INFINITY) {
    return std::nullopt;
  }
  return limit.rlim_cur;
}

/// Unmapping may need a mapping more for a moment: near the limit is at the limit.
std::optional<std::uint64_t> reached_mapping_limit() {
  constexpr std::int64_t near = 64;
  std::int64_t most = 0;
  std::ifstream setting("/proc/sys/vm/max_map_count");
  if (!(setting >> most)) {
    return std::nullopt;
  }
  std::ifstream maps("/proc/self/maps");
  const auto count = std::count(std::istreambuf_iterator<char>(maps), std::istreambuf_iterator<char>(), '\n');
  return count + near >= most ? std::optional<std::uint64_t>(static_cast<std::uint64_t>(most)) : std::nullopt;
}

/// ENOMEM has several causes; the one that is reached is named.
Cause cause_of_no_memory() {
  if (const std::optional<std::uint64_t> most = reached_mapping_limit()) {
    return {fmt::format("the process has used up its limit of {} mappings", *most),
            "use fewer or larger allocations, or raise vm.max_map_count"};
  }
  if (limit_of(RLIMIT_AS)) {
    return {fmt::format("the limit of address space is {}", address_space_limit()),
            "free host memory, or raise the limit of address space (ulimit -v)"};
  }
  return {"the system has no more to give",
          "free host memory, or raise the memory limit of its control group"};
}

Cause cause_of(int error) {
  switch (error) {
  case EMFILE:
    return {fmt::format("the limit of open files is {}", limit_of(RLIMIT_NOFILE).value_or(0)),
            "close descriptors, or raise the limit of open files (ulimit -n)"};
  case ENFILE:
    return {"the system has as many open files as it may (fs.file-max)", "raise fs.file-max"};
  case EFBIG:
    return {fmt::format("the limit of file size is {} bytes", limit_of(RLIMIT_FSIZE).value_or(0)),
            "raise the limit of file size (ulimit -f)"};
  default:
    return cause_of_no_memory();
  }
}

}  // namespace

std::string address_space_limit() {
  const std::optional<std::uint64_t> limit = limit_of(RLIMIT_AS);
  return limit ? fmt::format("{} bytes", *limit) : std::string("that of the machine");
}

Error no_host_memory(std::string what, int error) {
  Cause cause = cause_of(error);
  return Error{ErrorCode::out_of_host_memory, error,
               fmt::format("{}: {}; {}", what, std::strerror(error), cause.limit), std::move(cause.cure)};
}

}  // namespace datum
