// datum-board: serves simulated boards to other processes over the vfio-user protocol.
#include <csignal>
#include <cstdio>
#include <exception>
#include <memory>
#include <pthread.h>
#include <string>
#include <vector>

#include <CLI/CLI.hpp>
#include <fmt/format.h>

#include "sim/server/board_server.hpp"

namespace {

using datum::Error;
using datum::sim::ActivityLog;
using datum::sim::BoardServer;

constexpr int usage_status = 2;

constexpr const char* description =
    R"(Serves simulated boards over the vfio-user protocol, each at a UNIX socket.

A driver reaches such a board as vfio-user:PATH (DATUM_BOARDS=vfio-user:/run/user/1000/board), and QEMU as
the device vfio-user-pci. Every client gets a board in power-on state whose memory is zero.
SIGUSR1 prints what each board is doing; SIGINT and SIGTERM end the server and take the sockets away.)";

constexpr const char* footer = R"(Examples:
  datum-board --board rtl: --socket /run/user/1000/board
  datum-board --board model:memory=1G --socket /tmp/board --look
  datum-board --board rtl: --board model: --socket /tmp/first --socket /tmp/second

Exit status: 0 ended by a signal, 1 a board or a socket cannot be had, 2 the command line was not understood.)";

struct Arguments {
  std::vector<std::string> boards;
  std::vector<std::string> sockets;
  bool look = false;
  bool verbose = false;
};

int parse(int count, char** values, Arguments& arguments) {
  CLI::App app(description, "datum-board");
  app.footer(footer);
  app.add_option("--board", arguments.boards,
                 "what to serve: rtl:OPTIONS or model:OPTIONS. The n-th belongs to the n-th socket; a single "
                 "one to all (default: rtl:)");
  app.add_option("--socket", arguments.sockets, "where: a path for a socket, which is made with mode 0600")
      ->required();
  app.add_flag("--look", arguments.look,
               "others may look at each board at PATH.look while a client uses it: registers and memory");
  app.add_flag("--verbose", arguments.verbose, "show every message on standard error");
  try {
    app.parse(count, values);
  } catch (const CLI::ParseError& error) {
    return app.exit(error) == 0 ? 0 : usage_status;
  }
  if (arguments.boards.empty()) {
    arguments.boards = {"rtl:"};
  }
  if (arguments.boards.size() == 1) {
    arguments.boards.resize(arguments.sockets.size(), arguments.boards.front());
  }
  if (arguments.boards.size() != arguments.sockets.size()) {
    fmt::print(stderr, "datum-board: {} boards and {} sockets; each board needs its own socket\n",
               arguments.boards.size(), arguments.sockets.size());
    return usage_status;
  }
  return -1;
}

void complain(const Error& error) {
  fmt::print(stderr, "datum-board: {}\n", error.message);
  if (!error.hint.empty()) {
    fmt::print(stderr, "  {}\n", error.hint);
  }
}

/// Before any thread is made, so that all of them leave these signals to the one that waits for them.
sigset_t block_signals() {
  sigset_t signals;
  sigemptyset(&signals);
  for (const int signal : {SIGINT, SIGTERM, SIGHUP, SIGUSR1}) {
    sigaddset(&signals, signal);
  }
  pthread_sigmask(SIG_BLOCK, &signals, nullptr);
  std::signal(SIGPIPE, SIG_IGN);
  return signals;
}

/// Until a signal ends it.
int run(int count, char** values) {
  Arguments arguments;
  if (const int status = parse(count, values, arguments); status >= 0) {
    return status;
  }
  const sigset_t signals = block_signals();
  ActivityLog log(arguments.verbose);
  std::vector<std::unique_ptr<BoardServer>> servers;
  for (std::size_t index = 0; index < arguments.sockets.size(); ++index) {
    auto server = BoardServer::start(arguments.boards[index], arguments.sockets[index], log,
                                     arguments.look ? BoardServer::Look::open : BoardServer::Look::closed);
    if (!server) {
      complain(server.error());
      return 1;
    }
    servers.push_back(std::move(server).value());
    fmt::print("datum-board: {} listens at {}\n", arguments.boards[index], arguments.sockets[index]);
    std::fflush(stdout);
  }
  for (;;) {
    int signal = 0;
    sigwait(&signals, &signal);
    if (signal != SIGUSR1) {
      return 0;
    }
    for (const auto& server : servers) {
      fmt::print("datum-board: {}\n", server->status());
    }
    std::fflush(stdout);
  }
}

}  // namespace

int main(int count, char** values) {
  try {
    return run(count, values);
  } catch (const std::exception& failure) {
    fmt::print(stderr, "datum-board: {}\n", failure.what());
    return 1;
  }
}
