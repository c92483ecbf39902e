// One client and its board, from VERSION to the end of the connection.
#pragma once

#include <atomic>
#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <datum/base/unique_fd.hpp>

#include "sim/server/activity_log.hpp"
#include "sim/server/outbox.hpp"
#include "sim/server/remote_dma.hpp"
#include "sim/server/served_board.hpp"
#include "vfio_user/message_socket.hpp"

namespace datum::sim {

/// Everything that comes from the client is checked: what is malformed or out of order is refused with an
/// errno, and ends the connection only where the next message could not be found any more. Requests are
/// served in order by one thread that never waits for the client: the board's accesses to the client's memory
/// go on beside it (RemoteDma).
class Session {
 public:
  /// The client has the board to itself; an onlooker reads and writes registers and memory of a board that
  /// somebody else may use.
  enum class Role : std::uint8_t { client, onlooker };

  /// `board` and `log` outlive the session. `name` stands in front of what is logged.
  Session(UniqueFd socket, ServedBoard& board, ActivityLog& log, std::string name, Role role = Role::client);
  /// Board and client no longer reach each other.
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  /// Serves until the connection ends.
  void serve();
  /// Makes `serve` return. From any thread.
  void end() noexcept;

  /// Whether the client has closed its end, though `serve` may not have noticed. From any thread.
  [[nodiscard]] bool client_is_gone() const noexcept;

  /// "process 4711, 1032 requests, 5 refused, ..." From any thread.
  [[nodiscard]] std::string status() const;

 private:
  struct Reply {
    int error = 0;
    std::vector<std::byte> body;
    int descriptor = -1;
  };

  [[nodiscard]] bool wait_for_message();
  void take(vfio_user::Message message);
  void refuse(const vfio_user::Message& message, int error);
  void answer(const vfio_user::Message& message, const Reply& reply);
  Reply serve_command(vfio_user::Message& message);
  Reply serve_onlooker(vfio_user::Message& message);
  Reply serve_version(const vfio_user::Message& message);
  Reply serve_map(vfio_user::Message& message);
  Reply serve_unmap(const vfio_user::Message& message);
  Reply serve_device_info(const vfio_user::Message& message);
  Reply serve_region_info(const vfio_user::Message& message);
  Reply serve_irq_info(const vfio_user::Message& message);
  Reply serve_irq_set(vfio_user::Message& message);
  Reply serve_region_read(const vfio_user::Message& message);
  Reply serve_region_write(const vfio_user::Message& message);
  Reply serve_reset(const vfio_user::Message& message);
  [[nodiscard]] bool lies_in_region(const vfio_user::RegionAccess& access) const noexcept;

  UniqueFd socket_;
  ServedBoard& board_;
  ActivityLog& log_;
  std::string name_;
  Role role_;
  int client_process_ = 0;
  Outbox outbox_;
  RemoteDma dma_;
  bool negotiated_ = false;
  bool loss_reported_ = false;
  std::atomic<std::uint64_t> requests_ = 0;
  std::atomic<std::uint64_t> refused_ = 0;
};

}  // namespace datum::sim
