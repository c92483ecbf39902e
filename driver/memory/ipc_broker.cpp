#include "driver/memory/ipc_broker.hpp"

#include <algorithm>
#include <array>
#include <atomic>
#include <cerrno>
#include <chrono>
#include <cstring>
#include <mutex>
#include <optional>
#include <poll.h>
#include <pthread.h>
#include <sys/eventfd.h>
#include <sys/socket.h>
#include <sys/time.h>
#include <sys/un.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <fmt/format.h>

#include <datum/base/private_fd.hpp>
#include <datum/base/service_thread.hpp>

#include "driver/device/host_clock.hpp"
#include "driver/device/limits.hpp"
#include "driver/memory/host_limits.hpp"

namespace datum {
namespace {

constexpr std::uint32_t request_magic = 0x51435044;  // "DPCQ"
constexpr std::uint32_t answer_magic = 0x41435044;   // "DPCA"

struct Request {
  std::uint32_t magic = request_magic;
  std::uint32_t reserved = 0;
  std::array<std::uint8_t, 16> token{};
};

struct Answer {
  std::uint32_t magic = answer_magic;
  std::uint32_t files = 0;  ///< descriptors that come with it
};

/// In the child of a fork the sockets of the parent's brokers are closed: else connections would queue there
/// after the parent's end, and nobody would answer.
constexpr std::size_t most_brokers = 16;
constinit std::array<std::atomic<int>, most_brokers> listening_sockets{-1, -1, -1, -1, -1, -1, -1, -1,
                                                                       -1, -1, -1, -1, -1, -1, -1, -1};

void close_listening_sockets_in_child() {
  for (std::atomic<int>& socket : listening_sockets) {
    if (const int fd = socket.exchange(-1, std::memory_order_relaxed); fd >= 0) {
      ::close(fd);
    }
  }
}

void remember_listening(int fd) {
  static std::once_flag registered;
  std::call_once(registered, [] { ::pthread_atfork(nullptr, nullptr, close_listening_sockets_in_child); });
  for (std::atomic<int>& socket : listening_sockets) {
    int none = -1;
    if (socket.compare_exchange_strong(none, fd, std::memory_order_relaxed)) {
      return;
    }
  }
}

void forget_listening(int fd) {
  for (std::atomic<int>& socket : listening_sockets) {
    int known = fd;
    if (socket.compare_exchange_strong(known, -1, std::memory_order_relaxed)) {
      return;
    }
  }
}

socklen_t set_name(sockaddr_un& name, const BrokerAddress& address) {
  name = {};
  name.sun_family = AF_UNIX;
  const std::string text = fmt::format("datum-ipc.{}.{:016x}", address.process, address.number);
  // The leading null byte puts it into the abstract name space: there is no file to protect or to clean up.
  std::memcpy(name.sun_path + 1, text.data(), std::min(text.size(), sizeof name.sun_path - 1));
  return static_cast<socklen_t>(offsetof(sockaddr_un, sun_path) + 1 + text.size());
}

bool is_of_this_user(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 && peer.uid == ::geteuid();
}

void send_answer(int socket, int fd) {
  Answer answer;
  answer.files = fd >= 0 ? 1 : 0;
  iovec data{&answer, sizeof answer};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  if (fd >= 0) {
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    cmsghdr* head = CMSG_FIRSTHDR(&message);
    head->cmsg_level = SOL_SOCKET;
    head->cmsg_type = SCM_RIGHTS;
    head->cmsg_len = CMSG_LEN(sizeof fd);
    std::memcpy(CMSG_DATA(head), &fd, sizeof fd);
  }
  static_cast<void>(::sendmsg(socket, &message, MSG_NOSIGNAL | MSG_DONTWAIT));
}

/// Takes every descriptor out of a message, so that none stays behind unseen.
std::vector<UniqueFd> take_descriptors(msghdr& message) {
  std::vector<UniqueFd> taken;
  for (cmsghdr* head = CMSG_FIRSTHDR(&message); head != nullptr; head = CMSG_NXTHDR(&message, head)) {
    if (head->cmsg_level != SOL_SOCKET || head->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    for (std::size_t at = CMSG_LEN(0); at + sizeof(int) <= head->cmsg_len; at += sizeof(int)) {
      int fd = -1;
      std::memcpy(&fd, reinterpret_cast<const char*>(head) + at, sizeof fd);
      taken.emplace_back(private_fd(fd));
    }
  }
  return taken;
}

/// The call again as long as a signal interrupts it.
template <class Call>
auto uninterrupted(Call&& call) {
  auto result = call();
  while (result < 0 && errno == EINTR) {
    result = call();
  }
  return result;
}

Error nobody(const BrokerAddress& address, std::string_view why) {
  return make_error(
      ErrorCode::invalid_argument,
      fmt::format("the handle comes from process {}, whose memory cannot be had: {}", address.process, why),
      "the exporter must be alive and of the same user, or send the descriptor itself");
}

}  // namespace

struct IpcBroker::Impl {
  struct Peer {
    UniqueFd socket;
    std::uint64_t deadline_ns = 0;
  };

  BrokerAddress address;
  Find find;
  UniqueFd listening;
  UniqueFd stop;
  std::vector<Peer> peers;
  std::thread thread;

  Status listen();
  void run();
  void accept_peers();
  void serve(int socket) const;
};

Status IpcBroker::Impl::listen() {
  Result<IpcToken> random = make_ipc_token();
  if (!random.ok()) {
    return std::move(random).error();
  }
  std::memcpy(&address.number, random->bytes.data(), sizeof address.number);
  address.number |= 1;  // never 0
  address.process = static_cast<std::int32_t>(::getpid());
  listening.reset(private_fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC | SOCK_NONBLOCK, 0)));
  stop.reset(private_fd(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)));
  sockaddr_un name{};
  const socklen_t bytes = set_name(name, address);
  if (!listening.valid() || !stop.valid() ||
      ::bind(listening.get(), reinterpret_cast<const sockaddr*>(&name), bytes) != 0 ||
      ::listen(listening.get(), limits::ipc_waiting_peers) != 0) {
    return Error{ErrorCode::out_of_host_memory,
                 errno,
                 fmt::format("no socket to hand out shared memory: {}", std::strerror(errno)),
                 {}};
  }
  remember_listening(listening.get());
  return {};
}

void IpcBroker::Impl::accept_peers() {
  while (peers.size() < limits::ipc_waiting_peers) {
    UniqueFd socket(private_fd(::accept4(listening.get(), nullptr, nullptr, SOCK_CLOEXEC | SOCK_NONBLOCK)));
    if (!socket.valid()) {
      return;
    }
    if (is_of_this_user(socket.get())) {
      peers.push_back({std::move(socket), host_now_ns() + limits::ipc_answer_ns});
    }
  }
}

void IpcBroker::Impl::serve(int socket) const {
  Request request;
  iovec data{&request, sizeof request};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  const ssize_t got = ::recvmsg(socket, &message, MSG_DONTWAIT | MSG_CMSG_CLOEXEC);
  if (got != sizeof request || (message.msg_flags & MSG_TRUNC) != 0 || request.magic != request_magic) {
    return;
  }
  Result<UniqueFd> file = find(IpcToken{request.token});
  send_answer(socket, file.ok() ? file->get() : -1);
}

void IpcBroker::Impl::run() {
  name_service_thread('i');
  ApplicationWatch application(4);
  std::vector<pollfd> watched;
  for (;;) {
    application.look();
    watched.assign({{stop.get(), POLLIN, 0}});
    const std::uint64_t now = host_now_ns();
    auto left_ns = static_cast<std::uint64_t>(std::chrono::nanoseconds(ApplicationWatch::interval).count());
    for (const Peer& peer : peers) {
      watched.push_back({peer.socket.get(), POLLIN, 0});
      left_ns = std::min(left_ns, peer.deadline_ns > now ? peer.deadline_ns - now : 0);
    }
    const bool room = peers.size() < limits::ipc_waiting_peers;
    watched.push_back({room ? listening.get() : -1, POLLIN, 0});
    const auto timeout_ms = static_cast<int>(left_ns / limits::ns_per_ms + 1);
    if (::poll(watched.data(), watched.size(), timeout_ms) < 0 && errno != EINTR) {
      return;
    }
    if (watched.front().revents != 0) {
      return;
    }
    const std::uint64_t later = host_now_ns();
    for (std::size_t index = peers.size(); index-- > 0;) {
      const bool asks = watched[index + 1].revents != 0;
      if (asks) {
        serve(peers[index].socket.get());
      }
      if (asks || peers[index].deadline_ns <= later) {
        peers.erase(peers.begin() + static_cast<std::ptrdiff_t>(index));
      }
    }
    if (watched.back().revents != 0) {
      accept_peers();
    }
  }
}

IpcBroker::IpcBroker() : impl_(std::make_unique<Impl>()) {}

Result<std::unique_ptr<IpcBroker>> IpcBroker::start(Find find) {
  std::unique_ptr<IpcBroker> broker(new IpcBroker);
  Impl& impl = *broker->impl_;
  impl.find = std::move(find);
  if (Status listens = impl.listen(); !listens.ok()) {
    return std::move(listens).error();
  }
  try {
    const BlockedSignals blocked;
    impl.thread = std::thread([&impl] { impl.run(); });
  } catch (const std::exception&) {
    return make_error(ErrorCode::out_of_host_memory, "no thread to hand out shared memory");
  }
  return broker;
}

IpcBroker::~IpcBroker() {
  forget_listening(impl_->listening.get());
  if (impl_->thread.joinable()) {
    ::eventfd_write(impl_->stop.get(), 1);
    impl_->thread.join();
  }
}

BrokerAddress IpcBroker::address() const noexcept { return impl_->address; }

Result<UniqueFd> ask_ipc_broker(const BrokerAddress& address, const IpcToken& token) {
  const UniqueFd socket(private_fd(::socket(AF_UNIX, SOCK_SEQPACKET | SOCK_CLOEXEC, 0)));
  if (!socket.valid()) {
    return no_host_memory("there is no socket to ask its owner for shared memory", errno);
  }
  const timeval bound{static_cast<time_t>(limits::ipc_answer_ns / limits::ns_per_s),
                      static_cast<suseconds_t>(limits::ipc_answer_ns % limits::ns_per_s / limits::ns_per_us)};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound);
  ::setsockopt(socket.get(), SOL_SOCKET, SO_RCVTIMEO, &bound, sizeof bound);
  sockaddr_un name{};
  const socklen_t bytes = set_name(name, address);
  if (address.number == 0 || uninterrupted([&] {
                               return ::connect(socket.get(), reinterpret_cast<const sockaddr*>(&name),
                                                bytes);
                             }) != 0) {
    return nobody(address, "it is gone, or hands out nothing");
  }
  if (!is_of_this_user(socket.get())) {
    return nobody(address, "it is another user's");
  }
  Request request;
  request.token = token.bytes;
  if (uninterrupted([&] { return ::send(socket.get(), &request, sizeof request, MSG_NOSIGNAL); }) !=
      sizeof request) {
    return nobody(address, "it does not listen");
  }
  Answer answer;
  iovec data{&answer, sizeof answer};
  alignas(cmsghdr) std::array<char, CMSG_SPACE(sizeof(int))> control{};
  msghdr message{};
  message.msg_iov = &data;
  message.msg_iovlen = 1;
  message.msg_control = control.data();
  message.msg_controllen = control.size();
  const ssize_t got = uninterrupted([&] { return ::recvmsg(socket.get(), &message, MSG_CMSG_CLOEXEC); });
  if (got < 0 && (errno == EAGAIN || errno == EWOULDBLOCK)) {
    return make_error(ErrorCode::not_available,
                      fmt::format("process {} does not answer within {} s", address.process,
                                  limits::ipc_answer_ns / limits::ns_per_s));
  }
  std::vector<UniqueFd> files = got < 0 ? std::vector<UniqueFd>{} : take_descriptors(message);
  // The broker closes its end last. In a process that asks itself, whoever counts descriptors after this call
  // then counts none of the broker's.
  char end = 0;
  static_cast<void>(uninterrupted([&] { return ::recv(socket.get(), &end, sizeof end, 0); }));
  if (got != sizeof answer || answer.magic != answer_magic || answer.files != 1 || files.size() != 1) {
    return nobody(address, "it does not know the handle; the memory was freed");
  }
  return std::move(files.front());
}

}  // namespace datum
