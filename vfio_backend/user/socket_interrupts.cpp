#include "vfio_backend/user/socket_interrupts.hpp"

#include <algorithm>
#include <cerrno>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/private_fd.hpp>

#include "vfio_backend/user/limits.hpp"

namespace datum::vfio_user {

namespace {

bool drain(int fd) noexcept {
  std::uint64_t count = 0;
  return ::read(fd, &count, sizeof count) == static_cast<ssize_t>(sizeof count);
}

Result<UniqueFd> make_eventfd() {
  UniqueFd fd{private_fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))};
  if (!fd.valid()) {
    return Error{ErrorCode::out_of_host_memory, errno, "no eventfd to be had for an interrupt vector",
                 "raise the limit of open files (ulimit -n)"};
  }
  return fd;
}

/// How many interrupts there are of a kind.
Result<std::uint32_t> count_irqs(Channel& channel, std::uint32_t index) {
  const auto reply = channel.ask(Command::device_get_irq_info,
                                 as_message_body(IrqInfo{sizeof(IrqInfo), 0, index, 0}), {}, limits::answer);
  if (!reply) {
    return reply.error();
  }
  if (reply->body.size() < sizeof(IrqInfo)) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("the server's answer about interrupts {} is too short", index));
  }
  return read_body<IrqInfo>(reply->body).count;
}

}  // namespace

Status SocketInterrupts::make_vectors(std::uint32_t count) {
  for (std::uint32_t vector = 0; vector < count; ++vector) {
    auto fd = make_eventfd();
    if (!fd) {
      return std::move(fd).error();
    }
    vectors_.push_back(std::move(fd).value());
  }
  return {};
}

Status SocketInterrupts::hand_over(std::uint32_t index, std::uint32_t start,
                                   std::span<const int> descriptors) {
  const IrqSet set{sizeof(IrqSet), irq_set_eventfd | irq_set_trigger, index, start,
                   static_cast<std::uint32_t>(descriptors.size())};
  const auto reply =
      channel_->ask(Command::device_set_irqs, as_message_body(set), descriptors, limits::answer);
  return reply ? Status{} : Status(reply.error());
}

Result<SocketInterrupts> SocketInterrupts::set_up(Channel& channel, std::uint32_t descriptors_at_once) {
  const auto count = count_irqs(channel, msix_irq);
  if (!count) {
    return count.error();
  }
  if (*count == 0 || *count > limits::most_vectors) {
    return make_error(ErrorCode::unsupported_feature,
                      fmt::format("the served board has {} MSI-X vectors; 1 to {} are possible", *count,
                                  limits::most_vectors));
  }
  SocketInterrupts interrupts(channel);
  if (Status status = interrupts.make_vectors(*count); !status) {
    return std::move(status).error();
  }
  const std::size_t most = std::clamp<std::size_t>(descriptors_at_once, 1, most_descriptors);
  std::vector<int> descriptors;
  for (std::uint32_t start = 0; start < *count; start += static_cast<std::uint32_t>(descriptors.size())) {
    descriptors.clear();
    for (auto vector = start; vector < *count && descriptors.size() < most; ++vector) {
      descriptors.push_back(interrupts.descriptor(vector));
    }
    if (Status status = interrupts.hand_over(msix_irq, start, descriptors); !status) {
      return std::move(status).error();
    }
  }
  auto error_event = make_eventfd();
  if (!error_event) {
    return std::move(error_event).error();
  }
  interrupts.error_event_ = std::move(error_event).value();
  if (const auto errors = count_irqs(channel, error_irq); errors && *errors != 0) {
    const int descriptor = interrupts.error_event_.get();
    if (Status status = interrupts.hand_over(error_irq, 0, {&descriptor, 1}); !status) {
      return std::move(status).error();
    }
  }
  return interrupts;
}

bool SocketInterrupts::consume(unsigned vector) {
  if (vector != board::any_vector) {
    return drain(vectors_[vector].get());
  }
  bool consumed = false;
  for (const auto& fd : vectors_) {
    consumed = drain(fd.get()) || consumed;
  }
  return consumed;
}

Result<vfio::Seen> SocketInterrupts::wait(unsigned vector, int wake_fd, std::uint64_t timeout_ns) {
  using vfio::Seen;
  if (consume(vector)) {
    return Seen::interrupt;
  }
  std::vector<pollfd> fds{
      {channel_->lost_descriptor(), POLLIN, 0}, {error_event_.get(), POLLIN, 0}, {wake_fd, POLLIN, 0}};
  constexpr std::size_t notices = 2;
  for (unsigned number = 0; number < vectors(); ++number) {
    if (vector == board::any_vector || vector == number) {
      fds.push_back({descriptor(number), POLLIN, 0});
    }
  }
  constexpr std::uint64_t ns_per_s = 1'000'000'000;
  const timespec timeout{static_cast<time_t>(timeout_ns / ns_per_s),
                         static_cast<long>(timeout_ns % ns_per_s)};
  const auto ready =
      ::ppoll(fds.data(), fds.size(), timeout_ns == board::no_deadline ? nullptr : &timeout, nullptr);
  if (ready < 0 && errno != EINTR) {
    return Error{ErrorCode::unknown, errno, "waiting for an interrupt failed", {}};
  }
  if (ready <= 0) {
    return Seen::nothing;
  }
  const bool closed = std::any_of(fds.begin(), fds.end(),
                                  [](const pollfd& entry) { return (entry.revents & POLLNVAL) != 0; });
  if (closed) {
    return Error{ErrorCode::unknown, EBADF, "somebody else closed a descriptor of the board", {}};
  }
  const bool raised = std::any_of(fds.begin() + notices + 1, fds.end(),
                                  [](const pollfd& entry) { return entry.revents != 0; });
  if (raised && consume(vector)) {
    return Seen::interrupt;
  }
  if (fds[0].revents != 0 || fds[1].revents != 0) {
    return Seen::notice;
  }
  return fds[2].revents != 0 ? Seen::woken : Seen::nothing;
}

bool SocketInterrupts::board_lost() const noexcept {
  pollfd entry{error_event_.get(), POLLIN, 0};
  return ::poll(&entry, 1, 0) > 0;
}

void SocketInterrupts::clear() noexcept {
  static_cast<void>(consume(board::any_vector));
  static_cast<void>(drain(error_event_.get()));
}

}  // namespace datum::vfio_user
