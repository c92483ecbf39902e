#include "tests/support/board_server_process.hpp"

#include <array>
#include <cerrno>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <filesystem>
#include <poll.h>
#include <stdexcept>
#include <sys/prctl.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

namespace datum::test {

namespace {

using Clock = std::chrono::steady_clock;

int milliseconds_until(Clock::time_point deadline) {
  const auto left = std::chrono::duration_cast<std::chrono::milliseconds>(deadline - Clock::now());
  return left.count() < 0 ? 0 : static_cast<int>(left.count());
}

}  // namespace

BoardServerProcess::BoardServerProcess(const std::string& board, const std::string& socket_path,
                                       const std::vector<std::string>& more) {
  std::vector<std::string> arguments{DATUM_BOARD_PROGRAM, "--board", board, "--socket", socket_path};
  arguments.insert(arguments.end(), more.begin(), more.end());
  std::vector<char*> pointers;
  for (auto& argument : arguments) {
    pointers.push_back(argument.data());
  }
  pointers.push_back(nullptr);
  std::array<int, 2> pipe{};
  if (::pipe2(pipe.data(), O_CLOEXEC) != 0) {
    throw std::runtime_error("no pipe");
  }
  output_.reset(pipe[0]);
  UniqueFd write_end(pipe[1]);
  process_ = ::fork();
  if (process_ == 0) {
    ::prctl(PR_SET_PDEATHSIG, SIGKILL);
    ::dup2(write_end.get(), STDOUT_FILENO);
    ::execv(pointers[0], pointers.data());
    ::_exit(127);
  }
  write_end.reset();  // so that its end is seen
  const std::string line = read_line();
  if (line.find(" listens at ") == std::string::npos) {
    throw std::runtime_error("datum-board does not start: '" + line + "', status " + std::to_string(wait()));
  }
}

BoardServerProcess::~BoardServerProcess() {
  if (process_ > 0) {
    ::kill(process_, SIGKILL);
    ::waitpid(process_, nullptr, 0);
  }
}

void BoardServerProcess::send(int signal) const { ::kill(process_, signal); }

int BoardServerProcess::wait(std::chrono::milliseconds limit) {
  // Not through a descriptor of the process: valgrind knows none.
  const auto deadline = Clock::now() + limit;
  int status = 0;
  while (::waitpid(process_, &status, WNOHANG) != process_) {
    if (Clock::now() > deadline) {
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  process_ = -1;
  return WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
}

std::string BoardServerProcess::read_line(std::chrono::milliseconds limit) {
  const auto deadline = Clock::now() + limit;
  for (;;) {
    if (const auto end = unread_.find('\n'); end != std::string::npos) {
      std::string line = unread_.substr(0, end);
      unread_.erase(0, end + 1);
      return line;
    }
    pollfd entry{output_.get(), POLLIN, 0};
    if (::poll(&entry, 1, milliseconds_until(deadline)) <= 0) {
      return {};
    }
    std::array<char, 4096> piece{};
    const auto got = ::read(output_.get(), piece.data(), piece.size());
    if (got <= 0) {
      return {};
    }
    unread_.append(piece.data(), static_cast<std::size_t>(got));
  }
}

PrivateFolder::PrivateFolder() {
  std::string name = std::filesystem::temp_directory_path().string() + "/datum-XXXXXX";
  if (::mkdtemp(name.data()) == nullptr) {
    throw std::runtime_error("no folder for the test");
  }
  path_ = name;
}

PrivateFolder::~PrivateFolder() {
  std::error_code ignored;
  std::filesystem::remove_all(path_, ignored);
}

}  // namespace datum::test
