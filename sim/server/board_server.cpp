#include "sim/server/board_server.hpp"

#include <array>
#include <cerrno>
#include <filesystem>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

#include "sim/host/interrupts.hpp"

namespace datum::sim {

namespace {

/// How long a client that is turned away may take to say its first word.
constexpr timeval first_word_time{1, 0};
constexpr const char* look_suffix = ".look";

}  // namespace

BoardServer::BoardServer(SocketListener listener, std::optional<SocketListener> look_listener,
                         std::string board_address, std::unique_ptr<ServedBoard> board, UniqueFd stop_event,
                         ActivityLog& log)
    : listener_(std::move(listener)),
      look_listener_(std::move(look_listener)),
      board_address_(std::move(board_address)),
      name_(std::filesystem::path(listener_.path()).filename().string()),
      log_(log),
      stop_event_(std::move(stop_event)),
      board_(std::move(board)),
      onlookers_(log, name_),
      thread_([this] { loop(); }) {}

Result<std::unique_ptr<BoardServer>>
BoardServer::start(const std::string& board_address, const std::string& path, ActivityLog& log, Look look) {
  auto board = ServedBoard::create(board_address, 0);
  if (!board) {
    return std::move(board).error();
  }
  auto stop_event = make_eventfd(0);
  if (!stop_event) {
    return std::move(stop_event).error();
  }
  auto listener = SocketListener::open(path);
  if (!listener) {
    return std::move(listener).error();
  }
  std::optional<SocketListener> look_listener;
  if (look == Look::open) {
    auto second = SocketListener::open(path + look_suffix);
    if (!second) {
      return std::move(second).error();
    }
    look_listener.emplace(std::move(second).value());
  }
  return std::unique_ptr<BoardServer>(new BoardServer(std::move(listener).value(), std::move(look_listener),
                                                      board_address, std::move(board).value(),
                                                      std::move(stop_event).value(), log));
}

BoardServer::~BoardServer() {
  signal_eventfd(stop_event_.get());
  thread_.join();
  {
    const ScopedLock lock(mutex_);
    if (session_ != nullptr) {
      session_->end();
    }
  }
  if (session_thread_.joinable()) {
    session_thread_.join();
  }
  onlookers_.end_all();
}

std::string BoardServer::status() {
  const ScopedLock lock(mutex_);
  return fmt::format("{} at {}: {}", board_address_, listener_.path(),
                     session_ != nullptr ? session_->status() : "no client");
}

void BoardServer::loop() {
  for (;;) {
    const int look = look_listener_ ? look_listener_->descriptor() : -1;  // poll passes over -1
    std::array<pollfd, 3> fds{
        {{stop_event_.get(), POLLIN, 0}, {listener_.descriptor(), POLLIN, 0}, {look, POLLIN, 0}}};
    if (::poll(fds.data(), fds.size(), -1) < 0 && errno != EINTR) {
      log_.say(name_, "waiting for clients failed; no further client will be served");
      return;
    }
    if (fds[0].revents != 0) {
      return;
    }
    if (fds[1].revents != 0) {
      if (UniqueFd client = listener_.accept(); client.valid()) {
        take_client(std::move(client));
      }
    }
    if (fds[2].revents != 0) {
      if (UniqueFd onlooker = look_listener_->accept(); onlooker.valid()) {
        take_onlooker(std::move(onlooker));
      }
    }
  }
}

bool BoardServer::is_free() {
  const ScopedLock lock(mutex_);
  // Between a client's end and the thread's notice of it there is a moment; after that, a new board is made.
  const bool going = state_ == State::renewing || (session_ != nullptr && session_->client_is_gone());
  while (going && state_ != State::idle) {
    changed_.wait(mutex_);
  }
  return state_ == State::idle;
}

void BoardServer::take_client(UniqueFd client) {
  if (!is_free()) {
    log_.say(name_, "a second client was turned away");
    turn_away(std::move(client), EBUSY);
    return;
  }
  if (session_thread_.joinable()) {
    session_thread_.join();
  }
  if (board_ == nullptr) {
    auto board = ServedBoard::create(board_address_, clients_);
    if (!board) {
      log_.say(name_, fmt::format("no board for the next client: {}", board.error().message));
      turn_away(std::move(client), ENOMEM);
      return;
    }
    board_ = std::move(board).value();
  }
  ++clients_;
  {
    const ScopedLock lock(mutex_);
    state_ = State::serving;
  }
  session_thread_ = std::thread([this, socket = std::move(client)]() mutable { serve(std::move(socket)); });
}

void BoardServer::take_onlooker(UniqueFd onlooker) {
  {
    const ScopedLock lock(mutex_);
    if (state_ != State::renewing && board_ != nullptr && onlookers_.admit(onlooker, *board_)) {
      return;
    }
  }
  log_.say(name_, "somebody who wanted to look was turned away");
  turn_away(std::move(onlooker), EBUSY);
}

void BoardServer::serve(UniqueFd client) {
  {
    Session session(std::move(client), *board_, log_, name_);
    {
      const ScopedLock lock(mutex_);
      session_ = &session;
    }
    // The server may have been stopped just before; then nobody else ends the session.
    pollfd stop{stop_event_.get(), POLLIN, 0};
    if (::poll(&stop, 1, 0) > 0) {
      session.end();
    }
    session.serve();
    const ScopedLock lock(mutex_);
    session_ = nullptr;
    state_ = State::renewing;
  }
  onlookers_.end_all();
  board_.reset();
  pollfd stop{stop_event_.get(), POLLIN, 0};
  if (::poll(&stop, 1, 0) == 0) {
    if (auto next = ServedBoard::create(board_address_, clients_)) {
      board_ = std::move(next).value();
    }
  }
  const ScopedLock lock(mutex_);
  state_ = State::idle;
  changed_.notify_all();
}

/// Answers the first message with the error, whatever it is.
void BoardServer::turn_away(UniqueFd client, int error) {
  ::setsockopt(client.get(), SOL_SOCKET, SO_RCVTIMEO, &first_word_time, sizeof first_word_time);
  const auto message = vfio_user::receive_message(client.get());
  if (!message || !message->has_value()) {
    return;
  }
  vfio_user::Header header = (*message)->header;
  header.flags = vfio_user::type_reply | vfio_user::flag_error;
  header.error = static_cast<std::uint32_t>(error);
  static_cast<void>(vfio_user::send_bytes(client.get(), vfio_user::encode(header, {}), {}, false));
}

}  // namespace datum::sim
