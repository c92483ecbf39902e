#include "driver/memory/control_group.hpp"

#include <algorithm>
#include <array>
#include <fstream>
#include <initializer_list>
#include <string_view>
#include <utility>
#include <vector>

#include <fmt/format.h>

namespace datum {
namespace {

constexpr std::uint64_t bytes_between_looks = 64ULL << 20U;
/// For page tables and whatever else the kernel counts while it gives memory.
constexpr std::uint64_t margin_bytes = 4ULL << 20U;
/// Version 1 says "no limit" with the largest number of whole pages.
constexpr std::uint64_t no_limit_bytes = 1ULL << 62U;

/// What the files of one version are called.
struct Names {
  const char* limit;
  const char* used;
  std::array<std::string_view, 2> reclaimable;  ///< of memory.stat: file pages that need not stay
};

constexpr Names version_2{"memory.max", "memory.current", {"inactive_file", "active_file"}};
constexpr Names version_1{
    "memory.limit_in_bytes", "memory.usage_in_bytes", {"total_inactive_file", "total_active_file"}};

/// The number that a file begins with; empty: there is no such file, or it says "max".
std::optional<std::uint64_t> number_in(const std::string& path) {
  std::ifstream file(path);
  std::uint64_t number = 0;
  return file >> number ? std::optional(number) : std::nullopt;
}

/// The sum of the numbers behind the names, in a file of lines that begin with a name.
std::uint64_t sum_in(const std::string& path, std::initializer_list<std::string_view> names) {
  std::ifstream file(path);
  std::string name;
  std::uint64_t number = 0;
  std::uint64_t sum = 0;
  while (file >> name >> number) {
    sum += std::find(names.begin(), names.end(), name) != names.end() ? number : 0;
    file.ignore(256, '\n');
  }
  return sum;
}

/// Swap that the group may still use. Version 1 has no number of its own for it.
std::uint64_t swap_room(const std::string& folder, std::uint64_t free_swap) {
  const std::optional<std::uint64_t> most = number_in(folder + "/memory.swap.max");
  if (!most) {
    return free_swap;
  }
  const std::uint64_t used = number_in(folder + "/memory.swap.current").value_or(0);
  return std::min(free_swap, *most > used ? *most - used : 0);
}

std::optional<GroupRoom> room_of(const std::string& folder, const Names& names, std::uint64_t free_swap) {
  const std::string setting = fmt::format("{}/{}", folder, names.limit);
  const std::optional<std::uint64_t> limit = number_in(setting);
  const std::optional<std::uint64_t> used = number_in(fmt::format("{}/{}", folder, names.used));
  if (!limit || !used || *limit >= no_limit_bytes) {
    return std::nullopt;
  }
  const std::uint64_t kept =
      *used - std::min(*used, sum_in(folder + "/memory.stat", {names.reclaimable[0], names.reclaimable[1]}));
  const std::uint64_t room = (*limit > kept ? *limit - kept : 0) + swap_room(folder, free_swap);
  return GroupRoom{room, *limit, setting};
}

struct Membership {
  std::string folder;  ///< of the hierarchy
  std::string path;    ///< of the group in it, as the kernel names it
  Names names{};
};

/// "4:memory:/path" is of version 1, "0::/path" of version 2. In a container the folder may be the group's
/// own.
std::vector<Membership> memberships(const ControlGroupFiles& files) {
  std::vector<Membership> found;
  std::ifstream lines(files.membership);
  for (std::string line; std::getline(lines, line);) {
    const std::size_t first = line.find(':');
    const std::size_t second = first == std::string::npos ? first : line.find(':', first + 1);
    if (second == std::string::npos) {
      continue;
    }
    const std::string controllers = "," + line.substr(first + 1, second - first - 1) + ",";
    std::string path = line.substr(second + 1);
    if (controllers == ",,") {
      found.push_back({files.root, std::move(path), version_2});
    } else if (controllers.find(",memory,") != std::string::npos) {
      found.push_back({files.root + "/memory", std::move(path), version_1});
    }
  }
  return found;
}

}  // namespace

std::optional<GroupRoom> control_group_room(const ControlGroupFiles& files) {
  std::optional<GroupRoom> least;
  std::optional<std::uint64_t> free_swap;
  for (Membership& member : memberships(files)) {
    for (std::string& path = member.path;; path.resize(path.rfind('/'))) {
      if (!free_swap) {
        free_swap = sum_in(files.system, {"SwapFree:"}) * 1024;
      }
      std::optional<GroupRoom> room = room_of(member.folder + path, member.names, *free_swap);
      if (room && (!least || room->bytes < least->bytes)) {
        least = std::move(room);
      }
      if (path.rfind('/') == std::string::npos) {
        break;
      }
    }
  }
  return least;
}

void ControlGroupWatch::use(const ControlGroupFiles* files) noexcept {
  files_ = files;
  unseen_.store(~0ULL / 2, std::memory_order_relaxed);
}

Result<bool> ControlGroupWatch::admit(std::uint64_t bytes) {
  if (unseen_.fetch_add(bytes, std::memory_order_relaxed) + bytes < bytes_between_looks) {
    return false;
  }
  const std::optional<GroupRoom> room = control_group_room(files_ != nullptr ? *files_ : ControlGroupFiles{});
  if (!room) {
    unseen_.store(0, std::memory_order_relaxed);
    return false;
  }
  unseen_.store(~0ULL / 2, std::memory_order_relaxed);
  if (bytes > room->bytes || room->bytes - bytes < margin_bytes) {
    return make_error(
        ErrorCode::out_of_host_memory,
        fmt::format("{} bytes of host memory were asked for, and the process's control group has "
                    "a limit of {} bytes, of which {} are left",
                    bytes, room->limit_bytes, room->bytes),
        fmt::format("free host memory, or raise {}", room->setting));
  }
  return true;
}

ControlGroupWatch& control_groups() {
  static constinit ControlGroupWatch watch;
  return watch;
}

}  // namespace datum
