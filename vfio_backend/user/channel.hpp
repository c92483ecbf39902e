// The connection to a server: questions and their answers, and the server's own questions.
#pragma once

#include <atomic>
#include <functional>
#include <map>
#include <optional>
#include <span>
#include <string>
#include <thread>
#include <vector>

#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>

#include "vfio_user/message_socket.hpp"

namespace datum::vfio_user {

/// Safe from any thread. A thread of its own reads from the server, answers its questions and hands answers
/// to those who wait. Once the connection is lost it stays so, and everything fails with the reason.
class Channel {
 public:
  /// Answers a DMA_READ or DMA_WRITE: the body of the reply, or an errno in `error`. On the channel's thread.
  struct DmaAnswer {
    int error = 0;
    std::vector<std::byte> body;
  };

  using DmaHandler = std::function<DmaAnswer(const Message&)>;

  /// `name` stands in sentences.
  Channel(UniqueFd socket, std::string name, DmaHandler handler);
  /// Closes the connection. Not in a forked child, which has the object but not its thread: leave it alone
  /// there. `handler` is not called any more when it returns.
  ~Channel();
  Channel(const Channel&) = delete;
  Channel& operator=(const Channel&) = delete;

  /// Sends a command and waits for its reply. An error reply becomes an Error with the server's errno.
  /// device_lost: the connection is gone or no answer came within `bound`, and is taken to be gone then.
  Result<Message> ask(Command command, std::span<const std::byte> body, std::span<const int> descriptors,
                      std::chrono::seconds bound);
  /// Sends a command that nobody answers.
  void post(Command command, std::span<const std::byte> body) noexcept;

  /// False in a forked child: the connection is the parent's, and everything fails.
  [[nodiscard]] bool is_owner() const noexcept;

  [[nodiscard]] bool lost() const noexcept { return lost_.load(std::memory_order_acquire); }

  /// device_lost with the reason; only where lost().
  [[nodiscard]] Error lost_error() const;

  /// Whether the server itself is gone, and not only silent: then it reaches no memory any more.
  [[nodiscard]] bool server_is_gone() const noexcept { return server_gone_.load(std::memory_order_acquire); }

  /// Readable once the connection is lost.
  [[nodiscard]] int lost_descriptor() const noexcept { return lost_event_.get(); }

 private:
  struct Question {
    Command command{};
    std::optional<Message> reply;
  };

  void loop();
  /// False: the connection is lost.
  [[nodiscard]] bool take(Message message);
  [[nodiscard]] bool take_reply(Message message);
  [[nodiscard]] bool answer(const Message& message);
  int send(Header header, std::span<const std::byte> body, std::span<const int> descriptors) noexcept;
  void lose(std::string reason, bool server_gone);
  [[nodiscard]] Error refused(Command command, std::uint32_t number) const;

  UniqueFd socket_;
  std::string name_;
  DmaHandler handler_;
  UniqueFd lost_event_;
  int owner_process_;
  Mutex send_mutex_;
  mutable Mutex mutex_;
  ConditionVariable changed_;
  std::map<std::uint16_t, Question*> questions_ DATUM_GUARDED_BY(mutex_);
  std::uint16_t next_id_ DATUM_GUARDED_BY(mutex_) = 1;
  std::string reason_ DATUM_GUARDED_BY(mutex_);
  std::atomic<bool> lost_ = false;
  std::atomic<bool> server_gone_ = false;
  std::thread thread_;
};

}  // namespace datum::vfio_user
