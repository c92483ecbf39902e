#include "sim/server/outbox.hpp"

#include <cerrno>
#include <fcntl.h>
#include <sys/socket.h>
#include <utility>

#include <datum/base/mutex.hpp>
#include <datum/base/private_fd.hpp>

#include "vfio_user/message_socket.hpp"

namespace datum::sim {

Outbox::Outbox(int socket) : socket_(socket), thread_([this] { loop(); }) {}

Outbox::~Outbox() {
  {
    const ScopedLock lock(mutex_);
    stop_ = true;
    cut();  // ends a send that waits for room
  }
  changed_.notify_all();
  thread_.join();
}

void Outbox::cut() noexcept {
  if (!std::exchange(cut_, true)) {
    ::shutdown(socket_, SHUT_RDWR);
  }
}

void Outbox::send(const vfio_user::Header& header, std::span<const std::byte> body, int descriptor) {
  Kept message{vfio_user::encode(header, body), 0, {}};
  const ScopedLock lock(mutex_);
  if (cut_) {
    return;
  }
  if (kept_.empty()) {
    const std::span<const int> descriptors{&descriptor, descriptor >= 0 ? 1U : 0U};
    const long sent = vfio_user::send_bytes(socket_, message.bytes, descriptors, false);
    if (sent < 0 && sent != -EAGAIN) {
      cut();
      return;
    }
    message.sent = sent < 0 ? 0 : static_cast<std::size_t>(sent);
    if (message.sent == message.bytes.size()) {
      return;
    }
  }
  if (message.sent == 0 && descriptor >= 0) {
    message.descriptor.reset(duplicate_fd(descriptor));
  }
  kept_bytes_ += message.bytes.size();
  if (kept_bytes_ > most_kept_bytes) {
    cut();
    return;
  }
  kept_.push_back(std::move(message));
  changed_.notify_all();
}

bool Outbox::send_kept(Kept& kept) {
  while (kept.sent < kept.bytes.size()) {
    const int descriptor = kept.descriptor.get();
    const std::span<const int> descriptors{&descriptor, kept.sent == 0 && descriptor >= 0 ? 1U : 0U};
    const long sent =
        vfio_user::send_bytes(socket_, std::span{kept.bytes}.subspan(kept.sent), descriptors, true);
    if (sent < 0) {
      return false;
    }
    kept.sent += static_cast<std::size_t>(sent);
  }
  return true;
}

void Outbox::loop() {
  UniqueLock lock(mutex_);
  for (;;) {
    while (!stop_ && (kept_.empty() || cut_)) {
      changed_.wait(mutex_);
    }
    if (stop_) {
      return;
    }
    // It stays in front while it is sent, so that others queue up behind it; a deque does not move it.
    Kept& front = kept_.front();
    lock.unlock();
    const bool sent = send_kept(front);
    lock.lock();
    kept_bytes_ -= front.bytes.size();
    kept_.pop_front();
    if (!sent) {
      cut();
    }
  }
}

}  // namespace datum::sim
