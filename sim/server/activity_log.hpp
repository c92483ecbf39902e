// What the server tells people: always what matters, and every message if it is asked to.
#pragma once

#include <cstdio>
#include <string>
#include <string_view>

#include <datum/base/mutex.hpp>

#include "vfio_user/message_socket.hpp"

namespace datum::sim {

/// Thread safe. Lines have the board's name in front.
class ActivityLog {
 public:
  /// `to` outlives the log.
  explicit ActivityLog(bool verbose, std::FILE* to = stderr) noexcept : verbose_(verbose), to_(to) {}

  [[nodiscard]] bool verbose() const noexcept { return verbose_; }

  void say(std::string_view board, std::string_view line);
  /// If verbose. `direction`: "<-" from the client, "->" to it.
  void show(std::string_view board, std::string_view direction, const vfio_user::Header& header,
            std::span<const std::byte> body, std::size_t descriptors);

 private:
  bool verbose_;
  std::FILE* to_ DATUM_GUARDED_BY(mutex_);
  Mutex mutex_;
};

/// One line about a message: "REGION_READ 17, BAR0+0x10, 4 bytes".
[[nodiscard]] std::string describe(const vfio_user::Header& header, std::span<const std::byte> body,
                                   std::size_t descriptors);

}  // namespace datum::sim
