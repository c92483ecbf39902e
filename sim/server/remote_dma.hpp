// The board's accesses to memory of the client, as messages.
#pragma once

#include <chrono>
#include <cstdint>
#include <map>
#include <string>
#include <utility>
#include <vector>

#include <datum/base/mutex.hpp>

#include "sim/host/remote_memory.hpp"
#include "sim/server/outbox.hpp"
#include "vfio_user/message_socket.hpp"

namespace datum::sim {

/// `read`, `write` and `busy` are called under the board's turn, `answered` and `close` by the thread that
/// reads from the client. Nothing waits for anybody.
class RemoteDma final : public RemoteMemory {
 public:
  /// A client that does not answer an access for so long has failed it: what a completion time-out is to a
  /// card.
  static constexpr std::chrono::seconds most_answer_time{20};

  explicit RemoteDma(Outbox& outbox) : outbox_(outbox) {}

  Answer read(unsigned requester, std::uint64_t iova, std::span<std::byte> to) override;
  Answer write(unsigned requester, std::uint64_t iova, std::span<const std::byte> from) override;
  void forget(unsigned requester) override;
  [[nodiscard]] bool busy(unsigned requester) const override;

  /// A reply of the client. Empty, or why it is none to anything that was asked.
  [[nodiscard]] std::string answered(const vfio_user::Message& reply);
  /// The client is gone: everything is refused from now on.
  void close();

  [[nodiscard]] std::uint64_t messages() const;

 private:
  enum class State : std::uint8_t { idle, pending, done, refused };

  struct Slot {
    std::uint16_t id = 0;
    std::uint64_t iova = 0;
    std::uint64_t bytes = 0;
    State state = State::idle;
    bool unwanted = false;  // while pending: its answer is dropped
    std::chrono::steady_clock::time_point asked_at;
    std::vector<std::byte> data;  // that was read
  };

  using Key = std::pair<unsigned, bool>;  // requester, write

  Answer access(Key key, std::uint64_t iova, std::uint64_t bytes, std::span<const std::byte> data,
                std::span<std::byte> to);
  void ask(Key key, Slot& slot, std::uint64_t iova, std::uint64_t bytes, std::span<const std::byte> data)
      DATUM_REQUIRES(mutex_);
  [[nodiscard]] static bool fits(const vfio_user::Message& reply, const Slot& slot, bool write);

  Outbox& outbox_;
  mutable Mutex mutex_;
  std::map<Key, Slot> slots_ DATUM_GUARDED_BY(mutex_);
  std::map<std::uint16_t, Key> asked_ DATUM_GUARDED_BY(mutex_);  // by message id; also what was given up
  std::uint16_t next_id_ DATUM_GUARDED_BY(mutex_) = 1;
  std::uint64_t messages_ DATUM_GUARDED_BY(mutex_) = 0;
  bool closed_ DATUM_GUARDED_BY(mutex_) = false;
};

}  // namespace datum::sim
