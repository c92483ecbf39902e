// The objects that a scenario about the life of a process works with.
#pragma once

#include <chrono>
#include <signal.h>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>

#include <level_zero/ze_api.h>

namespace datum::test {

/// None is destroyed unless asked for.
struct World {
  ze_context_handle_t context = nullptr;
  ze_command_queue_handle_t queue = nullptr;
  ze_command_list_handle_t list = nullptr;
  void* host = nullptr;
  void* on_device = nullptr;
};

[[nodiscard]] World make_world();
/// Copies 4 KiB to the board and back; SUCCESS when the bytes came back.
[[nodiscard]] ze_result_t round_trip(const World& world);
void destroy_world(const World& world);

/// A list that waits for an event that nobody signals, executed; the queue has work in flight from here on.
ze_event_handle_t start_endless_work(const World& world);

/// Forks and gives the child's exit status, or -1 when it did not end within `limit`.
template <class Body>
[[nodiscard]] int in_forked_child(Body&& body, std::chrono::milliseconds limit) {
  const pid_t child = ::fork();
  if (child == 0) {
    ::_exit(body());
  }
  const auto end = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (::waitpid(child, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > end) {
      ::kill(child, SIGKILL);
      ::waitpid(child, &status, 0);
      return -1;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  return WIFEXITED(status) ? WEXITSTATUS(status) : 1000 + WTERMSIG(status);
}

}  // namespace datum::test
