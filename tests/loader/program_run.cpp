#include "tests/loader/program_run.hpp"

#include <array>
#include <chrono>
#include <csignal>
#include <cstdlib>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <sys/wait.h>
#include <unistd.h>

namespace datum::test {
namespace {

std::vector<char*> pointers_to(std::vector<std::string>& texts) {
  std::vector<char*> pointers;
  for (std::string& text : texts) {
    pointers.push_back(text.data());
  }
  pointers.push_back(nullptr);
  return pointers;
}

std::vector<std::string> with_needed_variables(std::vector<std::string> environment) {
  for (const char* const name :
       {"PATH", "HOME", "TMPDIR", "ASAN_OPTIONS", "UBSAN_OPTIONS", "TSAN_OPTIONS", "LSAN_OPTIONS"}) {
    if (const char* const value = std::getenv(name); value != nullptr) {
      environment.push_back(std::string(name) + "=" + value);
    }
  }
  return environment;
}

/// Reads until the other side closes the pipe. False if that takes longer than `seconds`.
bool read_all(int descriptor, int seconds, std::string& output) {
  const auto deadline = std::chrono::steady_clock::now() + std::chrono::seconds(seconds);
  std::array<char, 4096> buffer{};
  while (true) {
    const auto left =
        std::chrono::duration_cast<std::chrono::milliseconds>(deadline - std::chrono::steady_clock::now());
    pollfd waited{descriptor, POLLIN, 0};
    if (left.count() <= 0 || poll(&waited, 1, static_cast<int>(left.count())) <= 0) {
      return false;
    }
    const ssize_t bytes = read(descriptor, buffer.data(), buffer.size());
    if (bytes <= 0) {
      return true;
    }
    output.append(buffer.data(), static_cast<std::size_t>(bytes));
  }
}

pid_t start(std::vector<std::string> words, std::vector<std::string> variables, int output) {
  posix_spawn_file_actions_t actions;
  posix_spawn_file_actions_init(&actions);
  posix_spawn_file_actions_adddup2(&actions, output, STDOUT_FILENO);
  posix_spawn_file_actions_adddup2(&actions, output, STDERR_FILENO);
  pid_t pid = -1;
  const int error = posix_spawn(&pid, words.front().c_str(), &actions, nullptr, pointers_to(words).data(),
                                pointers_to(variables).data());
  posix_spawn_file_actions_destroy(&actions);
  return error == 0 ? pid : -1;
}

}  // namespace

ProgramRun run_program(const std::string& path, const std::vector<std::string>& arguments,
                       const std::vector<std::string>& environment, int seconds) {
  ProgramRun run;
  std::array<int, 2> ends{};
  if (pipe2(ends.data(), O_CLOEXEC) != 0) {
    return run;
  }
  std::vector<std::string> words{path};
  words.insert(words.end(), arguments.begin(), arguments.end());
  const pid_t pid = start(std::move(words), with_needed_variables(environment), ends[1]);
  close(ends[1]);
  if (pid > 0) {
    const bool finished = read_all(ends[0], seconds, run.output);
    if (!finished) {
      kill(pid, SIGKILL);
    }
    int status = 0;
    waitpid(pid, &status, 0);
    if (finished) {
      run.exit_status = WIFEXITED(status) ? WEXITSTATUS(status) : 128 + WTERMSIG(status);
    }
  }
  close(ends[0]);
  return run;
}

}  // namespace datum::test
