#include "tests/support/child_process.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <poll.h>
#include <signal.h>
#include <spawn.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

extern char** environ;

namespace datum::test {
namespace {

using Clock = std::chrono::steady_clock;

std::vector<std::string> changed_environment(const EnvironmentChanges& changes) {
  std::vector<std::string> result;
  for (char** entry = environ; *entry != nullptr; ++entry) {
    const std::string text = *entry;
    const std::string name = text.substr(0, text.find('='));
    const bool changed =
        std::any_of(changes.begin(), changes.end(), [&](const auto& change) { return change.first == name; });
    if (!changed) {
      result.push_back(text);
    }
  }
  for (const auto& [name, value] : changes) {
    if (value != unset_variable) {
      result.push_back(name + "=" + value);
    }
  }
  return result;
}

struct Spawned {
  pid_t pid = -1;
  int output = -1;
  int errors = -1;
};

Spawned spawn_self(const std::string& argument, const EnvironmentChanges& changes) {
  std::array<int, 2> output{};
  std::array<int, 2> errors{};
  if (::pipe2(output.data(), O_CLOEXEC) != 0 || ::pipe2(errors.data(), O_CLOEXEC) != 0) {
    return {};
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, output[1], STDOUT_FILENO);
  ::posix_spawn_file_actions_adddup2(&actions, errors[1], STDERR_FILENO);

  std::vector<std::string> variables = changed_environment(changes);
  std::vector<char*> variable_pointers;
  for (std::string& variable : variables) {
    variable_pointers.push_back(variable.data());
  }
  variable_pointers.push_back(nullptr);
  std::string program = "/proc/self/exe";
  std::string copy = argument;
  std::array<char*, 3> arguments{program.data(), copy.data(), nullptr};

  Spawned child;
  if (::posix_spawn(&child.pid, program.c_str(), &actions, nullptr, arguments.data(),
                    variable_pointers.data()) != 0) {
    child.pid = -1;
  }
  ::posix_spawn_file_actions_destroy(&actions);
  ::close(output[1]);
  ::close(errors[1]);
  child.output = output[0];
  child.errors = errors[0];
  return child;
}

void read_what_is_there(pollfd& source, std::string& text) {
  if ((source.revents & (POLLIN | POLLHUP)) == 0) {
    return;
  }
  std::array<char, 4096> buffer{};
  const ssize_t got = ::read(source.fd, buffer.data(), buffer.size());
  if (got > 0) {
    text.append(buffer.data(), static_cast<std::size_t>(got));
  } else {
    source.fd = -1;
  }
}

}  // namespace

std::string ChildOutcome::describe() const {
  std::string text = timed_out     ? "timed out"
                     : signal != 0 ? "signal " + std::to_string(signal)
                                   : "status " + std::to_string(exit_status);
  return text + " after " + std::to_string(duration.count()) + " ms; output: " + output +
         "; errors: " + errors;
}

ChildOutcome run_scenario_in_child(std::string_view scenario, const EnvironmentChanges& changes,
                                   std::chrono::milliseconds limit) {
  ChildOutcome outcome;
  const auto start = Clock::now();
  const Spawned child = spawn_self("--scenario=" + std::string(scenario), changes);
  if (child.pid < 0) {
    outcome.errors = "the child could not be started";
    return outcome;
  }
  // A grandchild may hold the pipes open after the child's end, so the child itself is what ends the wait.
  std::array<pollfd, 2> sources{pollfd{child.output, POLLIN, 0}, pollfd{child.errors, POLLIN, 0}};
  int status = 0;
  bool ended = false;
  while (!ended) {
    const pid_t waited = ::waitpid(child.pid, &status, WNOHANG);
    ended = waited == child.pid;
    const int ready = ::poll(sources.data(), sources.size(), ended ? 0 : 5);
    if (ready > 0) {
      read_what_is_there(sources[0], outcome.output);
      read_what_is_there(sources[1], outcome.errors);
    } else if (!ended && sources[0].fd < 0 && sources[1].fd < 0) {
      std::this_thread::sleep_for(std::chrono::milliseconds(1));
    }
    if (!ended && Clock::now() - start > limit) {
      outcome.timed_out = true;
      ::kill(child.pid, SIGKILL);
      ::waitpid(child.pid, &status, 0);
      ended = true;
    }
  }
  while (::poll(sources.data(), sources.size(), 0) > 0) {
    read_what_is_there(sources[0], outcome.output);
    read_what_is_there(sources[1], outcome.errors);
  }
  ::close(child.output);
  ::close(child.errors);
  outcome.duration = std::chrono::duration_cast<std::chrono::milliseconds>(Clock::now() - start);
  if (WIFSIGNALED(status)) {
    outcome.signal = WTERMSIG(status);
  } else {
    outcome.exit_status = WEXITSTATUS(status);
  }
  return outcome;
}

int run_scenario_from_arguments(int argument_count, char** arguments,
                                const std::vector<Scenario>& scenarios) {
  constexpr std::string_view prefix = "--scenario=";
  if (argument_count != 2 || std::strncmp(arguments[1], prefix.data(), prefix.size()) != 0) {
    return -1;
  }
  const std::string_view wanted = arguments[1] + prefix.size();
  for (const Scenario& scenario : scenarios) {
    if (wanted == scenario.name) {
      return scenario.run();
    }
  }
  std::fprintf(stderr, "there is no scenario %s\n", arguments[1]);
  return 2;
}

bool expect_code(int line, int expected, int actual) {
  if (expected == actual) {
    return true;
  }
  std::fprintf(stderr, "scenario line %d: expected 0x%x, found 0x%x\n", line, static_cast<unsigned>(expected),
               static_cast<unsigned>(actual));
  return false;
}

}  // namespace datum::test
