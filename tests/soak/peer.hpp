// Another process of the soak: it opens what it is lent, lends what it has made, and may be killed at any
// moment.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>
#include <sys/types.h>

#include <level_zero/ze_api.h>

#include <datum/base/unique_fd.hpp>

namespace datum::soak {

struct Request {
  enum class Kind : std::uint32_t {
    open,  ///< memory: find the pattern `seed` there, leave the pattern `seed + 1`
    lend,  ///< allocate, leave the pattern `seed`, answer with the handle; kept until `take_back`
    take_back,
    events,  ///< open the pool, wait for event 0, signal event 1
    reset,   ///< of its own board
  };

  Kind kind = Kind::reset;
  std::uint32_t on_host = 0;  ///< for `lend`: host memory
  std::uint64_t number = 0;   ///< which the answer repeats
  std::uint64_t bytes = 0;
  std::uint64_t seed = 0;
  ze_ipc_mem_handle_t memory{};
  ze_ipc_event_pool_handle_t pool{};
};

struct Answer {
  std::uint64_t number = 0;
  std::uint32_t succeeded = 0;
  ze_ipc_mem_handle_t memory{};
  char text[400] = {};  ///< what went wrong
};

class Peer {
 public:
  Peer() = default;
  Peer(const Peer&) = delete;
  Peer& operator=(const Peer&) = delete;

  ~Peer() { kill(); }

  /// Starts the process where there is none.
  void start();

  [[nodiscard]] bool runs() const noexcept { return pid_ > 0; }

  void send(Request request);
  /// The answer to the last request; ends the scene where none comes.
  [[nodiscard]] Answer answer();
  void kill() noexcept;
  /// Lets it end by itself, which has to succeed.
  void end();

 private:
  [[nodiscard]] std::optional<int> wait_for_end(std::chrono::seconds limit) noexcept;

  pid_t pid_ = -1;
  UniqueFd socket_;
  std::uint64_t sent_ = 0;
};

/// The other side: serves requests until the socket is closed. The process's exit status.
int serve_as_peer(int socket);

}  // namespace datum::soak
