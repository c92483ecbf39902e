#include "tests/soak/peer.hpp"

#include <array>
#include <csignal>
#include <fcntl.h>
#include <poll.h>
#include <spawn.h>
#include <string>
#include <sys/socket.h>
#include <sys/wait.h>
#include <thread>

#include "tests/soak/verdict.hpp"

extern char** environ;

namespace datum::soak {
namespace {

constexpr int patience_ms = 30'000;
constexpr int inherited_socket = 3;

}  // namespace

void Peer::start() {
  if (runs()) {
    return;
  }
  std::array<int, 2> ends{};
  require(::socketpair(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0, ends.data()) == 0, "no socket for a peer");
  socket_ = UniqueFd(ends[0]);
  UniqueFd theirs(ends[1]);
  if (theirs.get() == inherited_socket) {  // dup2 onto itself would keep it from being inherited
    theirs = UniqueFd(::fcntl(theirs.get(), F_DUPFD_CLOEXEC, inherited_socket + 1));
  }
  posix_spawn_file_actions_t actions;
  ::posix_spawn_file_actions_init(&actions);
  ::posix_spawn_file_actions_adddup2(&actions, theirs.get(), inherited_socket);
  std::string program = "/proc/self/exe";
  std::string option = "--peer";
  std::array<char*, 3> arguments{program.data(), option.data(), nullptr};
  const int failed = ::posix_spawn(&pid_, program.c_str(), &actions, nullptr, arguments.data(), environ);
  ::posix_spawn_file_actions_destroy(&actions);
  if (failed != 0) {
    pid_ = -1;
  }
  require(failed == 0, "a peer could not be started");
}

void Peer::send(Request request) {
  request.number = ++sent_;
  require(::send(socket_.get(), &request, sizeof request, MSG_NOSIGNAL) == ssize_t{sizeof request},
          "a peer takes no request");
}

Answer Peer::answer() {
  for (;;) {
    pollfd readable{socket_.get(), POLLIN, 0};
    require(::poll(&readable, 1, patience_ms) == 1, "a peer does not answer");
    Answer answer;
    require(::recv(socket_.get(), &answer, sizeof answer, 0) == ssize_t{sizeof answer},
            "a peer ended that nobody killed");
    if (answer.number == sent_) {  // others are of scenes that ended early
      return answer;
    }
  }
}

std::optional<int> Peer::wait_for_end(std::chrono::seconds limit) noexcept {
  const auto until = std::chrono::steady_clock::now() + limit;
  int status = 0;
  while (::waitpid(pid_, &status, WNOHANG) == 0) {
    if (std::chrono::steady_clock::now() > until) {
      return std::nullopt;
    }
    std::this_thread::sleep_for(std::chrono::milliseconds(1));
  }
  pid_ = -1;
  return status;
}

void Peer::kill() noexcept {
  if (runs()) {
    ::kill(pid_, SIGKILL);
    static_cast<void>(wait_for_end(std::chrono::seconds(30)));
  }
  pid_ = -1;
  socket_.reset();
}

void Peer::end() {
  if (!runs()) {
    return;
  }
  socket_.reset();
  const std::optional<int> status = wait_for_end(std::chrono::seconds(30));
  if (!status) {
    kill();
  }
  require(status.has_value(), "a peer does not end");
  require(WIFEXITED(*status) && WEXITSTATUS(*status) == 0, "a peer ended in failure");
}

}  // namespace datum::soak
