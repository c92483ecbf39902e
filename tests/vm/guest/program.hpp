// Another process of the guest, which a test talks to while it runs.
#pragma once

#include <chrono>
#include <optional>
#include <string>
#include <sys/types.h>
#include <vector>

#include <datum/base/unique_fd.hpp>

#include "tests/support/child_process.hpp"

namespace datum::test {

/// Who a program is, and what it may.
struct Rights {
  bool ordinary_user = false;                  ///< uid and gid 1000, without capabilities
  std::optional<std::uint64_t> memlock_bytes;  ///< RLIMIT_MEMLOCK
  EnvironmentChanges environment;
};

inline constexpr unsigned ordinary_group = 1000;

/// Killed when the object goes, if it still runs.
class Program {
 public:
  explicit Program(std::vector<std::string> command, const Rights& rights = {});
  ~Program();
  Program(const Program&) = delete;
  Program& operator=(const Program&) = delete;

  /// The next line of its standard output; empty when none comes within `limit`, or it ended.
  std::string read_line(std::chrono::milliseconds limit = std::chrono::seconds(200));
  void write_line(const std::string& line) const;
  void send(int signal) const;

  [[nodiscard]] bool runs() const;

  [[nodiscard]] pid_t process() const noexcept { return process_; }

  /// Ends its input and waits. What it printed and was not read yet is in the outcome; killed after `limit`.
  ChildOutcome end(std::chrono::milliseconds limit = std::chrono::seconds(200));

 private:
  void start(std::vector<std::string>& command, const Rights& rights);
  /// Takes what has been written; false when all ends are closed or `deadline` has come.
  bool take_more(std::chrono::steady_clock::time_point deadline);

  pid_t process_ = -1;
  UniqueFd handle_;
  UniqueFd input_;
  UniqueFd output_;
  UniqueFd errors_;
  std::string unread_;
  std::string complaints_;
};

/// A scenario of this program.
[[nodiscard]] std::vector<std::string> scenario(const std::string& name);
/// The tool `datum` with arguments.
[[nodiscard]] std::vector<std::string> tool(std::vector<std::string> arguments);

/// Runs it to its end.
[[nodiscard]] ChildOutcome run(std::vector<std::string> command, const Rights& rights = {});

}  // namespace datum::test
