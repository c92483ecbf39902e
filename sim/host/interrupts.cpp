#include "sim/host/interrupts.hpp"

#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>
#include <datum/base/private_fd.hpp>

namespace datum::sim {

Result<UniqueFd> make_eventfd(std::uint64_t count) {
  UniqueFd fd{private_fd(::eventfd(static_cast<unsigned>(count), EFD_NONBLOCK | EFD_CLOEXEC))};
  if (!fd.valid()) {
    const int number = errno;
    return Error{ErrorCode::out_of_host_memory, number,
                 fmt::format("no eventfd to be had: {}", std::strerror(number)),
                 "raise the limit of open files (ulimit -n)"};
  }
  return fd;
}

void signal_eventfd(int fd) noexcept {
  const std::uint64_t one = 1;
  // The only failure is a full counter, and a full counter is readable.
  [[maybe_unused]] const auto written = ::write(fd, &one, sizeof one);
}

bool drain_eventfd(int fd) noexcept {
  std::uint64_t count = 0;
  return ::read(fd, &count, sizeof count) == static_cast<ssize_t>(sizeof count);
}

void signal_foreign(int fd) noexcept {
  pollfd entry{fd, POLLOUT, 0};
  if (::poll(&entry, 1, 0) > 0 && (entry.revents & POLLOUT) != 0) {
    signal_eventfd(fd);
  }
}

void Interrupts::raise(unsigned vector) {
  {
    const ScopedLock lock(mutex_);
    if (vector >= vectors_.size()) {
      return;
    }
    auto& entry = vectors_[vector];
    if (entry.foreign.valid()) {
      signal_foreign(entry.foreign.get());
    } else if (entry.fd.valid()) {
      signal_eventfd(entry.fd.get());
    } else {
      entry.raised = true;
    }
  }
  // Without the lock: whoever is woken takes it at once, and would only fall asleep again.
  if (any_.valid()) {
    signal_eventfd(any_.get());
  }
}

void Interrupts::connect(unsigned vector, UniqueFd fd) {
  const ScopedLock lock(mutex_);
  auto& entry = vectors_[vector];
  entry.foreign = std::move(fd);
  if (entry.foreign.valid() && std::exchange(entry.raised, false)) {
    signal_foreign(entry.foreign.get());
  }
}

bool Interrupts::is_pending(unsigned vector) {
  const ScopedLock lock(mutex_);
  return vector < vectors_.size() && vectors_[vector].raised;
}

void Interrupts::clear() {
  const ScopedLock lock(mutex_);
  for (auto& entry : vectors_) {
    consume_locked(entry);
  }
  if (any_.valid()) {
    static_cast<void>(drain_eventfd(any_.get()));
  }
}

Result<int> Interrupts::descriptor(unsigned vector) {
  const ScopedLock lock(mutex_);
  if (vector >= vectors_.size()) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("vector {} of a board with {}", vector, vectors_.size()));
  }
  auto& entry = vectors_[vector];
  if (!entry.fd.valid()) {
    auto made = make_eventfd(entry.raised ? 1 : 0);
    if (!made) {
      return std::move(made).error();
    }
    entry.fd = std::move(made).value();
    entry.raised = false;
  }
  return entry.fd.get();
}

bool Interrupts::consume_locked(Vector& vector) {
  return vector.fd.valid() ? drain_eventfd(vector.fd.get()) : std::exchange(vector.raised, false);
}

bool Interrupts::consume(unsigned vector) {
  const ScopedLock lock(mutex_);
  if (vector != board::any_vector) {
    return vector < vectors_.size() && consume_locked(vectors_[vector]);
  }
  bool consumed = false;
  for (auto& entry : vectors_) {
    consumed = consume_locked(entry) || consumed;
  }
  return consumed;
}

}  // namespace datum::sim
