// One board at one socket, for one client after the other.
#pragma once

#include <memory>
#include <optional>
#include <string>
#include <thread>

#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>

#include "sim/server/activity_log.hpp"
#include "sim/server/onlookers.hpp"
#include "sim/server/session.hpp"
#include "sim/server/socket_listener.hpp"

namespace datum::sim {

/// Every client gets a new board: in power-on state, with memory that is zero. A client that comes while
/// another one is connected is told so (EBUSY); one that comes while the board of the last is taken down
/// waits for the new one. At a second socket, PATH.look, others may look at the board; that ends with the
/// board.
class BoardServer {
 public:
  enum class Look : std::uint8_t { closed, open };

  /// Listens from now on. `log` outlives the server. Errors as ServedBoard::create and SocketListener::open.
  static Result<std::unique_ptr<BoardServer>> start(const std::string& board_address, const std::string& path,
                                                    ActivityLog& log, Look look = Look::closed);
  /// Ends the client's connection and takes the socket away.
  ~BoardServer();
  BoardServer(const BoardServer&) = delete;
  BoardServer& operator=(const BoardServer&) = delete;

  [[nodiscard]] const std::string& path() const noexcept { return listener_.path(); }

  /// One line for people. From any thread.
  [[nodiscard]] std::string status();

 private:
  enum class State : std::uint8_t { idle, serving, renewing };

  BoardServer(SocketListener listener, std::optional<SocketListener> look_listener, std::string board_address,
              std::unique_ptr<ServedBoard> board, UniqueFd stop_event, ActivityLog& log);

  void loop();
  void take_client(UniqueFd client);
  void take_onlooker(UniqueFd onlooker);
  /// Waits while the last client's board is taken down. False: that client is still there.
  [[nodiscard]] bool is_free();
  void serve(UniqueFd client);
  static void turn_away(UniqueFd client, int error);

  SocketListener listener_;
  std::optional<SocketListener> look_listener_;
  std::string board_address_;
  std::string name_;
  ActivityLog& log_;
  UniqueFd stop_event_;
  std::unique_ptr<ServedBoard> board_;  // of the session thread while there is one
  Onlookers onlookers_;                 // admitted under mutex_, and not while the board is renewed
  unsigned clients_ = 0;

  Mutex mutex_;
  ConditionVariable changed_;
  Session* session_ DATUM_GUARDED_BY(mutex_) = nullptr;  // while it serves
  State state_ DATUM_GUARDED_BY(mutex_) = State::idle;
  std::thread session_thread_;
  std::thread thread_;
};

}  // namespace datum::sim
