// Descriptors of the driver's own, kept apart from those of the application.
#pragma once

#include <cerrno>
#include <fcntl.h>
#include <unistd.h>

#include <datum/base/unique_fd.hpp>

namespace datum {

/// Another descriptor of the same file, never a standard one. Negative: errno tells why.
[[nodiscard]] inline int duplicate_fd(int fd) noexcept {
  return ::fcntl(fd, F_DUPFD_CLOEXEC, STDERR_FILENO + 1);
}

/// `fd`, or another of the same file in its place: never a standard one. A program that has closed its
/// standard streams may go on to print, and that must not end in shared memory, in a board's registers or in
/// the conversation with a server. Negative, as `fd` is: errno tells why.
[[nodiscard]] inline int private_fd(int fd) noexcept {
  if (fd < 0 || fd > STDERR_FILENO) {
    return fd;
  }
  const int moved = duplicate_fd(fd);
  const int error = errno;
  ::close(fd);
  errno = error;
  return moved;
}

}  // namespace datum
