// A listening UNIX socket that belongs to this server and to nobody else.
#pragma once

#include <string>
#include <sys/types.h>

#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>

namespace datum::sim {

/// The file has mode 0600 and goes with the object.
class SocketListener {
 public:
  /// What lies at `path` is replaced only if it is a socket of ours on which nobody listens.
  /// invalid_argument: a path that is empty or too long, or something else lies there;
  /// insufficient_permissions: the folder is one in which anybody could replace the socket, or the file is
  /// another user's; not_available: another server listens there, or the folder does not exist.
  static Result<SocketListener> open(const std::string& path);
  SocketListener(SocketListener&& other) noexcept = default;
  SocketListener& operator=(SocketListener&&) = delete;
  SocketListener(const SocketListener&) = delete;
  SocketListener& operator=(const SocketListener&) = delete;
  ~SocketListener();

  [[nodiscard]] int descriptor() const noexcept { return socket_.get(); }

  [[nodiscard]] const std::string& path() const noexcept { return path_; }

  /// The next client of this user or root; others are turned away. An invalid descriptor: there is none now.
  [[nodiscard]] UniqueFd accept() const;

 private:
  SocketListener(UniqueFd socket, std::string path, dev_t device, ino_t inode)
      : socket_(std::move(socket)), path_(std::move(path)), device_(device), inode_(inode) {}

  UniqueFd socket_;
  std::string path_;
  dev_t device_;
  ino_t inode_;
};

}  // namespace datum::sim
