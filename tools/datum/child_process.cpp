#include "tools/datum/child_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

#include <datum/base/unique_fd.hpp>

namespace datum::tool {

namespace {

constexpr std::size_t most_bytes = 1U << 20U;
using Time = std::chrono::steady_clock::time_point;

struct Pipe {
  UniqueFd read;
  UniqueFd write;
};

bool make_pipe(Pipe& made) {
  int ends[2];
  if (::pipe2(ends, O_CLOEXEC) != 0) {
    return false;
  }
  made.read = UniqueFd(ends[0]);
  made.write = UniqueFd(ends[1]);
  return true;
}

/// False at the end of the stream.
bool take(int fd, std::string& text) {
  std::array<char, 4096> piece{};
  const ssize_t got = ::read(fd, piece.data(), piece.size());
  if (got < 0) {
    return errno == EINTR;
  }
  if (text.size() < most_bytes) {
    text.append(piece.data(), static_cast<std::size_t>(got));
  }
  return got > 0;
}

/// False when the time was up before both streams ended.
bool collect(const Pipe& out, const Pipe& err, ChildEnd& end, Time until) {
  std::array<pollfd, 2> entries{{{out.read.get(), POLLIN, 0}, {err.read.get(), POLLIN, 0}}};
  while (entries[0].fd >= 0 || entries[1].fd >= 0) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(until - std::chrono::steady_clock::now());
    if (left.count() <= 0) {
      return false;
    }
    if (::poll(entries.data(), entries.size(), static_cast<int>(left.count())) <= 0) {
      continue;
    }
    for (pollfd& entry : entries) {
      std::string& text = &entry == entries.data() ? end.output : end.errors;
      if (entry.fd >= 0 && entry.revents != 0 && !take(entry.fd, text)) {
        entry.fd = -1;
      }
    }
  }
  return true;
}

pid_t start(const std::vector<std::string>& arguments, const Pipe& out, const Pipe& err) {
  std::vector<char*> words;
  std::string name = "datum";
  words.push_back(name.data());
  for (const std::string& argument : arguments) {
    words.push_back(const_cast<char*>(argument.c_str()));
  }
  words.push_back(nullptr);
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_addopen(&actions, STDIN_FILENO, "/dev/null", O_RDONLY, 0);
  ::posix_spawn_file_actions_adddup2(&actions, out.write.get(), STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, err.write.get(), STDERR_FILENO);
  pid_t child = -1;
  const int error = ::posix_spawn(&child, "/proc/self/exe", &actions, nullptr, words.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? child : -1;
}

}  // namespace

ChildEnd run_self(const std::vector<std::string>& arguments, std::chrono::seconds limit) {
  ChildEnd end;
  Pipe out;
  Pipe err;
  if (!make_pipe(out) || !make_pipe(err)) {
    return end;
  }
  const pid_t child = start(arguments, out, err);
  if (child < 0) {
    return end;
  }
  end.started = true;
  out.write.reset();
  err.write.reset();
  end.timed_out = !collect(out, err, end, std::chrono::steady_clock::now() + limit);
  if (end.timed_out) {
    ::kill(child, SIGKILL);
  }
  int status = 0;
  while (::waitpid(child, &status, 0) < 0 && errno == EINTR) {
  }
  end.signal = WIFSIGNALED(status) ? WTERMSIG(status) : 0;
  end.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 0;
  return end;
}

}  // namespace datum::tool
