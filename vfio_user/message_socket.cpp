#include "vfio_user/message_socket.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/uio.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/private_fd.hpp>

namespace datum::vfio_user {

namespace {

/// Room for more descriptors than a message may have, so that too many are seen and closed.
constexpr std::size_t descriptor_room = 4 * most_descriptors;

void take_descriptors(msghdr& message, std::vector<UniqueFd>& to) {
  for (cmsghdr* part = CMSG_FIRSTHDR(&message); part != nullptr; part = CMSG_NXTHDR(&message, part)) {
    if (part->cmsg_level != SOL_SOCKET || part->cmsg_type != SCM_RIGHTS) {
      continue;
    }
    const std::size_t count = (part->cmsg_len - CMSG_LEN(0)) / sizeof(int);
    for (std::size_t index = 0; index < count; ++index) {
      int descriptor = -1;
      std::memcpy(&descriptor, CMSG_DATA(part) + index * sizeof(int), sizeof descriptor);
      to.emplace_back(private_fd(descriptor));
    }
  }
}

/// Fills `to`. Returns how many bytes came before the end of the stream, or -errno.
long receive_bytes(int socket, std::span<std::byte> to, std::vector<UniqueFd>& descriptors) {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(descriptor_room * sizeof(int))> control{};
  std::size_t done = 0;
  while (done < to.size()) {
    iovec piece{to.data() + done, to.size() - done};
    msghdr message{};
    message.msg_iov = &piece;
    message.msg_iovlen = 1;
    message.msg_control = control.data();
    message.msg_controllen = control.size();
    const auto got = ::recvmsg(socket, &message, MSG_CMSG_CLOEXEC);
    if (got < 0) {
      if (errno == EINTR) {
        continue;
      }
      return -errno;
    }
    take_descriptors(message, descriptors);
    if ((message.msg_flags & MSG_CTRUNC) != 0) {
      return -E2BIG;
    }
    if (got == 0) {
      break;
    }
    done += static_cast<std::size_t>(got);
  }
  return static_cast<long>(done);
}

Error broken(long outcome) {
  if (outcome == -E2BIG) {
    return make_error(ErrorCode::invalid_argument, "a message came with more descriptors than any may have");
  }
  if (outcome < 0) {
    const int number = static_cast<int>(-outcome);
    return Error{
        ErrorCode::device_lost, number, fmt::format("the connection failed: {}", std::strerror(number)), {}};
  }
  return make_error(ErrorCode::device_lost, "the connection was closed in the middle of a message");
}

}  // namespace

Result<std::optional<Message>> receive_message(int socket) {
  Message message;
  const auto header_bytes = std::as_writable_bytes(std::span{&message.header, 1});
  const long got = receive_bytes(socket, header_bytes, message.descriptors);
  if (got == 0) {
    return std::optional<Message>{};
  }
  if (got != static_cast<long>(header_bytes.size())) {
    return broken(got);
  }
  const auto size = message.header.size_bytes;
  if (size < least_message_bytes || size > most_message_bytes) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("a message says that it has {} bytes; there are {} to {}", size,
                                  least_message_bytes, most_message_bytes));
  }
  message.body.resize(size - sizeof(Header));
  const long rest = receive_bytes(socket, message.body, message.descriptors);
  if (rest != static_cast<long>(message.body.size())) {
    return broken(rest);
  }
  if (message.descriptors.size() > most_descriptors) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("a message came with {} descriptors; at most {} are allowed",
                                  message.descriptors.size(), most_descriptors));
  }
  return std::optional<Message>{std::move(message)};
}

std::vector<std::byte> encode(Header header, std::span<const std::byte> body) {
  header.size_bytes = static_cast<std::uint32_t>(sizeof header + body.size());
  std::vector<std::byte> bytes;
  bytes.reserve(header.size_bytes);
  append(bytes, header);
  bytes.insert(bytes.end(), body.begin(), body.end());
  return bytes;
}

long send_bytes(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors,
                bool may_wait) noexcept {
  alignas(cmsghdr) std::array<char, CMSG_SPACE(most_descriptors * sizeof(int))> control{};
  iovec piece{const_cast<std::byte*>(bytes.data()), bytes.size()};  // iovec knows no const
  msghdr message{};
  message.msg_iov = &piece;
  message.msg_iovlen = 1;
  if (!descriptors.empty()) {
    if (descriptors.size() > most_descriptors) {
      return -E2BIG;
    }
    message.msg_control = control.data();
    message.msg_controllen = CMSG_SPACE(descriptors.size_bytes());
    cmsghdr* const part = CMSG_FIRSTHDR(&message);
    part->cmsg_level = SOL_SOCKET;
    part->cmsg_type = SCM_RIGHTS;
    part->cmsg_len = CMSG_LEN(descriptors.size_bytes());
    std::memcpy(CMSG_DATA(part), descriptors.data(), descriptors.size_bytes());
  }
  for (;;) {
    const auto sent = ::sendmsg(socket, &message, MSG_NOSIGNAL | (may_wait ? 0 : MSG_DONTWAIT));
    if (sent >= 0) {
      return sent;
    }
    if (errno != EINTR) {
      return -errno;
    }
  }
}

int send_all(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors) noexcept {
  while (!bytes.empty()) {
    const long sent = send_bytes(socket, bytes, descriptors, true);
    if (sent < 0) {
      return static_cast<int>(-sent);
    }
    bytes = bytes.subspan(static_cast<std::size_t>(sent));
    descriptors = {};
  }
  return 0;
}

}  // namespace datum::vfio_user
