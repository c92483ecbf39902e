// The memory that the control groups of this process (containers, services) still allow it. The kernel
// refuses nothing there: it ends a process that needs more.
#pragma once

#include <atomic>
#include <cstdint>
#include <optional>
#include <string>

#include <datum/base/result.hpp>

namespace datum {

/// Where the kernel shows control groups and the system's memory.
struct ControlGroupFiles {
  std::string membership = "/proc/self/cgroup";
  std::string root = "/sys/fs/cgroup";
  std::string system = "/proc/meminfo";
};

struct GroupRoom {
  std::uint64_t bytes = 0;  ///< that may still be used, with what the kernel would give up or swap for it
  std::uint64_t limit_bytes = 0;  ///< of the group
  std::string setting;            ///< the file that holds the limit
};

/// The group of this process, or one above it, with the least room; of version 2 and of version 1. Empty:
/// none has a limit, or the kernel does not show them.
[[nodiscard]] std::optional<GroupRoom> control_group_room(const ControlGroupFiles& files);

/// Looks at the control groups when host memory is taken. Thread safe, save for `use`.
class ControlGroupWatch {
 public:
  /// Where `files` say, from the next look on; null: where the kernel shows them. For tests, while no other
  /// thread takes memory. `files` stays the caller's and lives until the next call.
  void use(const ControlGroupFiles* files) noexcept;

  /// Before `bytes` more are taken. Whether the kernel is to give them at once, which is so where a group has
  /// a limit: what is only promised would be missing when it is touched. out_of_host_memory: there is no
  /// room, with the limit and the cure. Where there are no limits, only every so many bytes cost a look.
  Result<bool> admit(std::uint64_t bytes);

 private:
  const ControlGroupFiles* files_ = nullptr;
  std::atomic<std::uint64_t> unseen_{~0ULL / 2};  ///< bytes since the last look; at first more than enough
};

/// The process's.
[[nodiscard]] ControlGroupWatch& control_groups();

}  // namespace datum
