// Keeps files that others open away from the numbers of the standard streams.
#pragma once

#include <array>
#include <fcntl.h>
#include <unistd.h>
#include <utility>

#include <datum/base/unique_fd.hpp>

namespace datum {

/// While it lives, no file gets the number of a standard stream that the program has closed. For files that a
/// library opens, where private_fd() comes too late.
class StandardStreamsKept {
 public:
  StandardStreamsKept() noexcept {
    for (UniqueFd& kept : kept_) {
      UniqueFd taken(::open("/dev/null", O_RDWR | O_CLOEXEC));
      if (!taken.valid() || taken.get() > STDERR_FILENO) {
        return;  // the numbers are given in order: all three are in use
      }
      kept = std::move(taken);
    }
  }

 private:
  std::array<UniqueFd, 3> kept_;
};

}  // namespace datum
