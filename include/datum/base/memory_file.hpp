// Files of anonymous memory.
#pragma once

#include <cerrno>
#include <csignal>
#include <cstdint>
#include <ctime>
#include <sys/mman.h>
#include <unistd.h>

#include <datum/base/private_fd.hpp>
#include <datum/base/unique_fd.hpp>

namespace datum {

/// An empty one that can be sealed; invalid: errno tells why.
[[nodiscard]] inline UniqueFd make_memory_file(const char* name) noexcept {
  return UniqueFd(private_fd(::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)));
}

/// Gives the memory file `fd` its size. 0, or an errno. Beyond the process's limit of file size (ulimit -f),
/// which counts for memory files too, it is EFBIG: the signal that goes with it, and that would end the
/// application, is kept from it.
[[nodiscard]] inline int resize_memory_file(int fd, std::uint64_t bytes) noexcept {
  sigset_t too_large;
  sigset_t before;
  sigemptyset(&too_large);
  sigaddset(&too_large, SIGXFSZ);
  ::pthread_sigmask(SIG_BLOCK, &too_large, &before);
  const int error = ::ftruncate(fd, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  if (error == EFBIG && sigismember(&before, SIGXFSZ) == 0) {
    const timespec at_once{0, 0};
    ::sigtimedwait(&too_large, nullptr, &at_once);
  }
  ::pthread_sigmask(SIG_SETMASK, &before, nullptr);
  return error;
}

}  // namespace datum
