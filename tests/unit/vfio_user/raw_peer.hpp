// One end of a vfio-user connection by hand: sends what it is told, well formed or not.
#pragma once

#include <array>
#include <cerrno>
#include <fcntl.h>
#include <optional>
#include <poll.h>
#include <span>
#include <sys/socket.h>
#include <sys/un.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "vfio_user/capabilities.hpp"
#include "vfio_user/message_socket.hpp"

namespace datum::test {

using vfio_user::Command;
using vfio_user::Header;
using vfio_user::Message;

/// Two connected ends.
inline std::pair<UniqueFd, UniqueFd> make_connection() {
  std::array<int, 2> ends{-1, -1};
  EXPECT_EQ(::socketpair(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0, ends.data()), 0);
  return {UniqueFd(ends[0]), UniqueFd(ends[1])};
}

class RawPeer {
 public:
  explicit RawPeer(UniqueFd socket) : socket_(std::move(socket)) {}

  [[nodiscard]] int socket() const { return socket_.get(); }

  void close() { socket_.reset(); }

  void send_raw(std::span<const std::byte> bytes, std::span<const int> descriptors = {}) {
    static_cast<void>(vfio_user::send_all(socket_.get(), bytes, descriptors));
  }

  void send(const Header& header, std::span<const std::byte> body, std::span<const int> descriptors = {}) {
    send_raw(vfio_user::encode(header, body), descriptors);
  }

  /// Sends a command and returns its id.
  std::uint16_t send(Command command, std::span<const std::byte> body, std::span<const int> descriptors = {},
                     std::uint32_t flags = 0) {
    Header header;
    header.id = next_id_++;
    header.command = static_cast<std::uint16_t>(command);
    header.flags = flags;
    send(header, body, descriptors);
    return header.id;
  }

  /// The next message; none when the connection ends, or nothing comes for 10 s.
  std::optional<Message> receive() {
    if (!readable(10'000)) {
      ADD_FAILURE() << "no message came";
      return {};
    }
    auto message = vfio_user::receive_message(socket_.get());
    return message && message->has_value() ? std::move(*message) : std::optional<Message>{};
  }

  bool readable(int milliseconds) {
    pollfd entry{socket_.get(), POLLIN, 0};
    return ::poll(&entry, 1, milliseconds) > 0;
  }

  /// Sends a command and returns its reply.
  Message ask(Command command, std::span<const std::byte> body, std::span<const int> descriptors = {}) {
    const auto id = send(command, body, descriptors);
    auto reply = receive();
    if (!reply) {
      ADD_FAILURE() << vfio_user::name_of(command) << " got no reply";
      return {};
    }
    EXPECT_EQ(reply->header.id, id);
    EXPECT_EQ(reply->command(), command);
    EXPECT_TRUE(reply->is_reply());
    return std::move(*reply);
  }

  /// The errno of the reply; 0: it succeeded.
  std::uint32_t error_of(Command command, std::span<const std::byte> body,
                         std::span<const int> descriptors = {}) {
    const auto reply = ask(command, body, descriptors);
    const bool failed = (reply.header.flags & vfio_user::flag_error) != 0;
    EXPECT_EQ(failed, reply.header.error != 0);
    EXPECT_TRUE(!failed || reply.body.empty()) << "an error reply is a header alone";
    return reply.header.error;
  }

 private:
  UniqueFd socket_;
  std::uint16_t next_id_ = 1;
};

}  // namespace datum::test
