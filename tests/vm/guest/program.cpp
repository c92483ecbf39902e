#include "tests/vm/guest/program.hpp"

#include <array>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <grp.h>
#include <poll.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/resource.h>
#include <sys/syscall.h>
#include <sys/wait.h>
#include <unistd.h>
#include <utility>

namespace datum::test {

namespace {

using Clock = std::chrono::steady_clock;

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  return left.count() < 0 ? 0 : static_cast<int>(left.count());
}

struct Pipe {
  UniqueFd read_end;
  UniqueFd write_end;
};

Pipe make_pipe() {
  std::array<int, 2> ends{};
  if (::pipe2(ends.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

/// In the child, between fork and exec.
bool take_rights(const Rights& rights) {
  if (rights.memlock_bytes) {
    const rlimit limit{*rights.memlock_bytes, *rights.memlock_bytes};
    if (::setrlimit(RLIMIT_MEMLOCK, &limit) != 0) {
      return false;
    }
  }
  for (const auto& [name, value] : rights.environment) {
    if (value == unset_variable) {
      ::unsetenv(name.c_str());
    } else {
      ::setenv(name.c_str(), value.c_str(), 1);
    }
  }
  constexpr gid_t group = ordinary_group;
  constexpr uid_t user = 1000;
  return !rights.ordinary_user ||
         (::setgroups(0, nullptr) == 0 && ::setgid(group) == 0 && ::setuid(user) == 0);
}

/// False when the end is closed.
bool read_some(UniqueFd& from, std::string& text) {
  std::array<char, 4096> piece{};
  const ssize_t got = ::read(from.get(), piece.data(), piece.size());
  if (got <= 0) {
    from.reset();
    return false;
  }
  text.append(piece.data(), static_cast<std::size_t>(got));
  return true;
}

}  // namespace

Program::Program(std::vector<std::string> command, const Rights& rights) {
  Pipe input = make_pipe();
  Pipe output = make_pipe();
  Pipe errors = make_pipe();
  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(input.read_end.get(), STDIN_FILENO);
    ::dup2(output.write_end.get(), STDOUT_FILENO);
    ::dup2(errors.write_end.get(), STDERR_FILENO);
    start(command, rights);
    ::_exit(127);
  }
  handle_.reset(static_cast<int>(::syscall(SYS_pidfd_open, process_, 0)));
  input_ = std::move(input.write_end);
  output_ = std::move(output.read_end);
  errors_ = std::move(errors.read_end);
}

void Program::start(std::vector<std::string>& command, const Rights& rights) {
  if (!take_rights(rights)) {
    return;
  }
  std::vector<char*> words;
  for (std::string& word : command) {
    words.push_back(word.data());
  }
  words.push_back(nullptr);
  ::execvp(words[0], words.data());
}

Program::~Program() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
}

bool Program::take_more(Clock::time_point deadline) {
  if (!output_.valid() && !errors_.valid()) {
    return false;
  }
  std::array<pollfd, 2> entries{{{output_.get(), POLLIN, 0}, {errors_.get(), POLLIN, 0}}};
  if (::poll(entries.data(), entries.size(), milliseconds_until(deadline)) <= 0) {
    return false;
  }
  if (entries[0].revents != 0) {
    read_some(output_, unread_);
  }
  if (entries[1].revents != 0) {
    read_some(errors_, complaints_);
  }
  return true;
}

std::string Program::read_line(std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  for (;;) {
    if (const auto end = unread_.find('\n'); end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    if (!take_more(deadline)) {
      return {};
    }
  }
}

void Program::write_line(const std::string& line) const {
  const std::string text = line + '\n';
  if (::write(input_.get(), text.data(), text.size()) != static_cast<ssize_t>(text.size())) {
    throw std::runtime_error("the program takes no input");
  }
}

void Program::send(int signal) const { ::kill(process_, signal); }

bool Program::runs() const {
  pollfd entry{handle_.get(), POLLIN, 0};
  return process_ > 0 && ::poll(&entry, 1, 0) == 0;
}

ChildOutcome Program::end(std::chrono::milliseconds limit) {
  const auto start = Clock::now();
  input_.reset();
  while (take_more(start + limit)) {
  }
  pollfd entry{handle_.get(), POLLIN, 0};
  ChildOutcome outcome;
  outcome.timed_out = ::poll(&entry, 1, milliseconds_until(start + limit)) <= 0;
  if (outcome.timed_out) {
    send(SIGKILL);
  }
  int status = 0;
  ::waitpid(std::exchange(process_, -1), &status, 0);
  if (WIFSIGNALED(status)) {
    outcome.signal = WTERMSIG(status);
  } else {
    outcome.exit_status = WEXITSTATUS(status);
  }
  outcome.output = std::move(unread_);
  outcome.errors = std::move(complaints_);
  outcome.duration = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
  return outcome;
}

std::vector<std::string> scenario(const std::string& name) {
  return {"/proc/self/exe", "--scenario=" + name};
}

std::vector<std::string> tool(std::vector<std::string> arguments) {
  arguments.insert(arguments.begin(), DATUM_TOOL_FILE);
  return arguments;
}

ChildOutcome run(std::vector<std::string> command, const Rights& rights) {
  return Program(std::move(command), rights).end();
}

}  // namespace datum::test
