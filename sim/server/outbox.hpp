// What goes out to a client, in order, from any thread, without anybody waiting for the client.
#pragma once

#include <cstddef>
#include <deque>
#include <span>
#include <thread>
#include <vector>

#include <datum/base/mutex.hpp>
#include <datum/base/unique_fd.hpp>

#include "vfio_user/messages.hpp"

namespace datum::sim {

/// Whoever reads from a client must never wait for it to read: two ends that both wait to be read never go
/// on. So what the socket does not take at once is kept for a thread. A client that lets more than
/// `most_kept_bytes` wait is cut off.
class Outbox {
 public:
  static constexpr std::size_t most_kept_bytes = 32UL << 20U;

  /// `socket` outlives the object.
  explicit Outbox(int socket);
  /// Drops what is still kept.
  ~Outbox();
  Outbox(const Outbox&) = delete;
  Outbox& operator=(const Outbox&) = delete;

  /// `descriptor`: goes with it, -1: none. A failure cuts the connection, so that its reader sees the end.
  void send(const vfio_user::Header& header, std::span<const std::byte> body, int descriptor = -1);

 private:
  struct Kept {
    std::vector<std::byte> bytes;
    std::size_t sent = 0;
    UniqueFd descriptor;
  };

  void loop();
  /// False: the connection is of no use any more.
  [[nodiscard]] bool send_kept(Kept& kept);
  void cut() noexcept DATUM_REQUIRES(mutex_);

  int socket_;
  Mutex mutex_;
  ConditionVariable changed_;
  std::deque<Kept> kept_ DATUM_GUARDED_BY(mutex_);
  std::size_t kept_bytes_ DATUM_GUARDED_BY(mutex_) = 0;
  bool cut_ DATUM_GUARDED_BY(mutex_) = false;
  bool stop_ DATUM_GUARDED_BY(mutex_) = false;
  std::thread thread_;
};

}  // namespace datum::sim
