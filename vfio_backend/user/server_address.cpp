#include "vfio_backend/user/server_address.hpp"

#include <cerrno>
#include <cstring>
#include <sys/socket.h>
#include <sys/un.h>
#include <unistd.h>

#include <fmt/format.h>

#include <datum/base/private_fd.hpp>

#include "vfio_backend/user/limits.hpp"

namespace datum::vfio_user {

namespace {

constexpr std::string_view scheme = "vfio-user:";
constexpr std::size_t most_path_bytes = sizeof(sockaddr_un::sun_path) - 1;

Error cannot_connect(const std::string& path, int number) {
  switch (number) {
  case ENOENT:
    return Error{ErrorCode::not_available, number, fmt::format("there is no socket at '{}'", path),
                 fmt::format("start the board's server: datum-board --board rtl: --socket {}", path)};
  case ECONNREFUSED:
    return Error{ErrorCode::not_available, number,
                 fmt::format("nobody listens at '{}'; its server has ended", path),
                 fmt::format("start it again: datum-board --board rtl: --socket {}", path)};
  case EACCES:
  case EPERM:
    return Error{ErrorCode::insufficient_permissions, number,
                 fmt::format("this user may not connect to '{}'", path),
                 "a server serves the user that started it"};
  default:
    return Error{ErrorCode::not_available,
                 number,
                 fmt::format("no connection to '{}': {}", path, std::strerror(number)),
                 {}};
  }
}

}  // namespace

Result<std::string> parse_server_address(std::string_view address) {
  const std::string_view path = address.starts_with(scheme) ? address.substr(scheme.size()) : "";
  if (path.empty() || path.size() > most_path_bytes) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("'{}' names no socket: the path has {} bytes, and 1 to {} are possible",
                                  address, path.size(), most_path_bytes),
                      "write vfio-user:/path/of/the/socket");
  }
  return std::string(path);
}

Result<UniqueFd> connect_to_server(const std::string& path) {
  UniqueFd socket{private_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC, 0))};
  if (!socket.valid()) {
    return Error{ErrorCode::out_of_host_memory, errno, "no socket to be had",
                 "raise the limit of open files (ulimit -n)"};
  }
  // Also bounds the connecting itself, when the server's queue is full.
  const timeval bound{limits::send_seconds, 0};
  ::setsockopt(socket.get(), SOL_SOCKET, SO_SNDTIMEO, &bound, sizeof bound);
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  if (::connect(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0) {
    return cannot_connect(path, errno);
  }
  ucred peer{};
  socklen_t bytes = sizeof peer;
  if (::getsockopt(socket.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) != 0 ||
      (peer.uid != ::geteuid() && peer.uid != 0)) {
    return make_error(
        ErrorCode::insufficient_permissions,
        fmt::format("the server at '{}' is run by user {}, and would be given the memory of this "
                    "process",
                    path, peer.uid),
        "use a server that you or root started");
  }
  return socket;
}

}  // namespace datum::vfio_user
