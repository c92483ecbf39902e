#include "vfio_backend/user/channel.hpp"

#include <cerrno>
#include <chrono>
#include <cstring>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>
#include <datum/base/private_fd.hpp>
#include <datum/base/service_thread.hpp>

namespace datum::vfio_user {

namespace {

ErrorCode code_of(std::uint32_t number) {
  switch (number) {
  case ENOMEM:
  case ENOSPC:
    return ErrorCode::out_of_host_memory;
  case EACCES:
  case EPERM:
    return ErrorCode::insufficient_permissions;
  case EBUSY:
    return ErrorCode::not_available;
  case ENOTSUP:
  case ENOSYS:
    return ErrorCode::unsupported_feature;
  case EIO:
  case ENODEV:
    return ErrorCode::device_lost;
  default:
    return ErrorCode::invalid_argument;
  }
}

std::thread start_without_signals(std::function<void()> work) {
  const BlockedSignals blocked;
  return std::thread(std::move(work));
}

}  // namespace

Channel::Channel(UniqueFd socket, std::string name, DmaHandler handler)
    : socket_(std::move(socket)),
      name_(std::move(name)),
      handler_(std::move(handler)),
      lost_event_(private_fd(::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC))),
      owner_process_(::getpid()),
      thread_(start_without_signals([this] { loop(); })) {}

Channel::~Channel() {
  ::shutdown(socket_.get(), SHUT_RDWR);
  thread_.join();
}

bool Channel::is_owner() const noexcept { return ::getpid() == owner_process_; }

void Channel::lose(std::string reason, bool server_gone) {
  const ScopedLock lock(mutex_);
  if (server_gone) {
    server_gone_.store(true, std::memory_order_release);
  }
  if (lost()) {
    return;
  }
  // Which call meets a server's end first, and with which errno, is chance.
  reason_ =
      server_gone ? std::string("its server has closed the connection or has ended") : std::move(reason);
  lost_.store(true, std::memory_order_release);
  ::shutdown(socket_.get(), SHUT_RDWR);
  const std::uint64_t one = 1;
  [[maybe_unused]] const auto written = ::write(lost_event_.get(), &one, sizeof one);
  changed_.notify_all();
}

Error Channel::lost_error() const {
  const ScopedLock lock(mutex_);
  return make_error(ErrorCode::device_lost, fmt::format("the board at {} is lost: {}", name_, reason_));
}

Error Channel::refused(Command command, std::uint32_t number) const {
  const int value = static_cast<int>(number);
  if (number == EBUSY) {
    return Error{ErrorCode::not_available, value,
                 fmt::format("the board at {} is in use by another client", name_),
                 "one client at a time: end the other one, or start another server"};
  }
  return Error{code_of(number),
               value,
               fmt::format("the board at {} refused {}: {}", name_, name_of(command), std::strerror(value)),
               {}};
}

int Channel::send(Header header, std::span<const std::byte> body, std::span<const int> descriptors) noexcept {
  const auto bytes = encode(header, body);
  const ScopedLock lock(send_mutex_);
  return send_all(socket_.get(), bytes, descriptors);
}

Result<Message> Channel::ask(Command command, std::span<const std::byte> body,
                             std::span<const int> descriptors, std::chrono::seconds bound) {
  if (!is_owner()) {
    return make_error(ErrorCode::device_lost,
                      fmt::format("the board at {} belongs to the process that opened it", name_));
  }
  Question question{command, {}};
  Header header;
  header.command = static_cast<std::uint16_t>(command);
  {
    const ScopedLock lock(mutex_);
    while (questions_.contains(next_id_)) {
      ++next_id_;
    }
    header.id = next_id_++;
    questions_.emplace(header.id, &question);
  }
  if (!lost()) {
    if (const int number = send(header, body, descriptors); number != 0) {
      lose(fmt::format("{} could not be sent: {}", name_of(command), std::strerror(number)), number == EPIPE);
    }
  }
  UniqueLock lock(mutex_);
  const auto until = std::chrono::steady_clock::now() + bound;
  while (!question.reply && !lost() && changed_.wait_until(mutex_, until)) {
  }
  const bool answered = question.reply || lost();
  questions_.erase(header.id);
  if (question.reply) {
    const auto& reply = question.reply->header;
    if ((reply.flags & flag_error) != 0) {
      return refused(command, reply.error);
    }
    return std::move(*question.reply);
  }
  lock.unlock();
  if (!answered) {
    lose(fmt::format("{} was not answered within {} s", name_of(command), bound.count()), false);
  }
  return lost_error();
}

void Channel::post(Command command, std::span<const std::byte> body) noexcept {
  Header header;
  header.command = static_cast<std::uint16_t>(command);
  header.flags = flag_no_reply;
  if (!is_owner() || lost()) {
    return;
  }
  if (const int number = send(header, body, {}); number != 0) {
    lose(fmt::format("{} could not be sent: {}", name_of(command), std::strerror(number)), number == EPIPE);
  }
}

void Channel::loop() {
  pthread_setname_np(pthread_self(), "datum-vfio-user");
  for (;;) {
    auto message = receive_message(socket_.get());
    if (!message) {
      lose(message.error().message, message.error().errno_value == ECONNRESET);
      return;
    }
    if (!message->has_value()) {
      lose({}, true);
      return;
    }
    if (!take(std::move(**message))) {
      return;
    }
  }
}

bool Channel::take(Message message) {
  return message.is_reply() ? take_reply(std::move(message)) : answer(message);
}

bool Channel::take_reply(Message message) {
  const ScopedLock lock(mutex_);
  const auto found = questions_.find(message.header.id);
  if (found == questions_.end() || found->second->reply) {
    return true;  // of a question that nobody waits for any more
  }
  if (message.command() != found->second->command) {
    message.header.flags |= flag_error;
    message.header.error = EPROTO;
  }
  found->second->reply = std::move(message);
  changed_.notify_all();
  return true;
}

bool Channel::answer(const Message& message) {
  DmaAnswer answer{EINVAL, {}};
  const bool dma = message.command() == Command::dma_read || message.command() == Command::dma_write;
  if (dma && (message.header.flags & flag_type_mask) == type_command && message.descriptors.empty()) {
    answer = handler_(message);
  }
  if ((message.header.flags & flag_no_reply) != 0) {
    return true;
  }
  Header header = message.header;
  header.flags = type_reply | (answer.error != 0 ? flag_error : 0U);
  header.error = static_cast<std::uint32_t>(answer.error);
  if (const int number = send(header, answer.error != 0 ? std::span<const std::byte>{} : answer.body, {});
      number != 0) {
    lose(fmt::format("an answer could not be sent: {}", std::strerror(number)), number == EPIPE);
    return false;
  }
  return true;
}

}  // namespace datum::vfio_user
