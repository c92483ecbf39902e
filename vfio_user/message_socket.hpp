// Whole messages over a connected UNIX stream socket, with the descriptors that go with them.
#pragma once

#include <cstddef>
#include <optional>
#include <span>
#include <vector>

#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>

#include "vfio_user/messages.hpp"

namespace datum::vfio_user {

struct Message {
  Header header;
  std::vector<std::byte> body;
  std::vector<UniqueFd> descriptors;

  [[nodiscard]] bool is_reply() const noexcept { return (header.flags & flag_type_mask) == type_reply; }

  [[nodiscard]] Command command() const noexcept { return static_cast<Command>(header.command); }
};

/// Waits for the next message. Nothing: the peer closed the connection between two messages. An error says
/// what was wrong; the stream is of no use afterwards, since nobody knows where the next message begins:
/// invalid_argument: a size that cannot be, or too many descriptors; device_lost: the connection broke.
[[nodiscard]] Result<std::optional<Message>> receive_message(int socket);

/// The bytes of a message, header in front with its size filled in.
[[nodiscard]] std::vector<std::byte> encode(Header header, std::span<const std::byte> body);

/// Sends as much of `bytes` as the socket takes, waiting for room if `may_wait`; `descriptors` go with the
/// first byte. Returns how many bytes went, or -errno. Never raises SIGPIPE.
[[nodiscard]] long send_bytes(int socket, std::span<const std::byte> bytes, std::span<const int> descriptors,
                              bool may_wait) noexcept;

/// All of it, waiting for room. 0 or an errno.
[[nodiscard]] int send_all(int socket, std::span<const std::byte> bytes,
                           std::span<const int> descriptors) noexcept;

}  // namespace datum::vfio_user
