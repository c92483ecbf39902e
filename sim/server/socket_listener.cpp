#include "sim/server/socket_listener.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <filesystem>
#include <sys/file.h>
#include <sys/socket.h>
#include <sys/stat.h>
#include <sys/un.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/private_fd.hpp>

namespace datum::sim {

namespace {

constexpr int waiting_clients = 8;
constexpr mode_t owner_only = 0600;

Error failed(ErrorCode code, int number, std::string sentence) {
  return Error{code, number, fmt::format("{}: {}", sentence, std::strerror(number)), {}};
}

sockaddr_un address_of(const std::string& path) {
  sockaddr_un address{};
  address.sun_family = AF_UNIX;
  std::memcpy(address.sun_path, path.c_str(), path.size() + 1);
  return address;
}

/// The folder, opened and locked: two servers that start at once take turns. The lock goes with the
/// descriptor.
Result<UniqueFd> lock_folder(const std::string& path) {
  const auto parent = std::filesystem::path(path).parent_path();
  const std::string folder = parent.empty() ? std::string(".") : parent.string();
  UniqueFd opened{::open(folder.c_str(), O_RDONLY | O_DIRECTORY | O_CLOEXEC)};
  if (!opened.valid()) {
    return failed(ErrorCode::not_available, errno, fmt::format("the folder '{}' cannot be opened", folder));
  }

  struct stat status {};

  if (::fstat(opened.get(), &status) != 0) {
    return failed(ErrorCode::not_available, errno, fmt::format("the folder '{}' cannot be examined", folder));
  }
  const bool others_write = (status.st_mode & (S_IWGRP | S_IWOTH)) != 0 && (status.st_mode & S_ISVTX) == 0;
  if (others_write || (status.st_uid != ::geteuid() && status.st_uid != 0)) {
    return make_error(
        ErrorCode::insufficient_permissions,
        fmt::format("in the folder '{}' others than this user could replace the socket", folder),
        "take a folder that only you can write to, such as $XDG_RUNTIME_DIR");
  }
  ::flock(opened.get(), LOCK_EX);
  return opened;
}

/// Takes away what a server that is dead has left.
Status clear_the_way(const std::string& path) {
  struct stat status {};

  if (::lstat(path.c_str(), &status) != 0) {
    return errno == ENOENT ? Status{}
                           : Status(failed(ErrorCode::not_available, errno,
                                           fmt::format("'{}' cannot be examined", path)));
  }
  if (!S_ISSOCK(status.st_mode)) {
    return make_error(ErrorCode::invalid_argument, fmt::format("'{}' exists and is no socket", path),
                      "name another path; nothing is overwritten");
  }
  if (status.st_uid != ::geteuid()) {
    return make_error(ErrorCode::insufficient_permissions,
                      fmt::format("'{}' is another user's socket", path));
  }
  const UniqueFd probe{private_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))};
  const sockaddr_un address = address_of(path);
  if (::connect(probe.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) == 0 ||
      errno != ECONNREFUSED) {
    return make_error(ErrorCode::not_available, fmt::format("another server listens at '{}'", path),
                      "stop it, or name another path");
  }
  ::unlink(path.c_str());
  return {};
}

}  // namespace

Result<SocketListener> SocketListener::open(const std::string& path) {
  constexpr std::size_t most_bytes = sizeof(sockaddr_un::sun_path) - 1;
  if (path.empty() || path.size() > most_bytes || path.find('\0') != std::string::npos) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("'{}' is no path for a socket: it has {} bytes, and 1 to {} are possible",
                                  path, path.size(), most_bytes));
  }
  const auto folder = lock_folder(path);
  if (!folder) {
    return folder.error();
  }
  if (auto status = clear_the_way(path); !status) {
    return std::move(status).error();
  }
  UniqueFd socket{private_fd(::socket(AF_UNIX, SOCK_STREAM | SOCK_CLOEXEC | SOCK_NONBLOCK, 0))};
  if (!socket.valid()) {
    return failed(ErrorCode::out_of_host_memory, errno, "no socket to be had");
  }
  // Before it has a name: the file gets this mode from its first moment on.
  const sockaddr_un address = address_of(path);
  if (::fchmod(socket.get(), owner_only) != 0 ||
      ::bind(socket.get(), reinterpret_cast<const sockaddr*>(&address), sizeof address) != 0 ||
      ::listen(socket.get(), waiting_clients) != 0) {
    return failed(ErrorCode::not_available, errno, fmt::format("no socket can be made at '{}'", path));
  }

  struct stat status {};

  if (::lstat(path.c_str(), &status) != 0) {
    return failed(ErrorCode::not_available, errno, fmt::format("'{}' was taken away at once", path));
  }
  return SocketListener{std::move(socket), path, status.st_dev, status.st_ino};
}

SocketListener::~SocketListener() {
  struct stat status {};

  if (socket_.valid() && ::lstat(path_.c_str(), &status) == 0 && status.st_dev == device_ &&
      status.st_ino == inode_) {
    ::unlink(path_.c_str());
  }
}

UniqueFd SocketListener::accept() const {
  UniqueFd client{private_fd(::accept4(socket_.get(), nullptr, nullptr, SOCK_CLOEXEC))};
  if (!client.valid()) {
    return {};
  }
  ucred peer{};
  socklen_t bytes = sizeof peer;
  const bool known = ::getsockopt(client.get(), SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0;
  if (!known || (peer.uid != ::geteuid() && peer.uid != 0)) {
    return {};
  }
  return client;
}

}  // namespace datum::sim
