// A `datum-board` process that a test starts, and ends in the way it wants.
#pragma once

#include <chrono>
#include <string>
#include <sys/types.h>
#include <vector>

#include <datum/base/unique_fd.hpp>

namespace datum::test {

class BoardServerProcess {
 public:
  /// Serves `board` at `socket_path`, with more arguments behind. Returns when it listens; throws
  /// std::runtime_error with what it said when it does not. The process dies with this one.
  BoardServerProcess(const std::string& board, const std::string& socket_path,
                     const std::vector<std::string>& more = {});
  /// Kills it if it still runs.
  ~BoardServerProcess();
  BoardServerProcess(const BoardServerProcess&) = delete;
  BoardServerProcess& operator=(const BoardServerProcess&) = delete;

  void send(int signal) const;
  /// Its exit status, 128 + the signal that ended it, or -1 if it still runs after `limit`.
  int wait(std::chrono::milliseconds limit = std::chrono::seconds(20));
  /// One line of its standard output; empty when none comes within `limit`.
  std::string read_line(std::chrono::milliseconds limit = std::chrono::seconds(60));

  [[nodiscard]] pid_t process() const noexcept { return process_; }

 private:
  pid_t process_ = -1;
  UniqueFd output_;
  std::string unread_;
};

/// A folder of the process's own, removed at its end, with everything in it.
class PrivateFolder {
 public:
  PrivateFolder();
  ~PrivateFolder();
  PrivateFolder(const PrivateFolder&) = delete;
  PrivateFolder& operator=(const PrivateFolder&) = delete;

  [[nodiscard]] std::string path(const std::string& name) const { return path_ + "/" + name; }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

 private:
  std::string path_;
};

}  // namespace datum::test
