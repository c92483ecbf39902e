// How long at least one descriptor was under way: from its beginning to its end. A wait never begins.
#pragma once

#include <cstdint>

namespace datum::sim {

/// Times are TIMER's.
class BusyTime {
 public:
  void begin(std::uint64_t now_ns) noexcept {
    if (under_way_++ == 0) {
      since_ns_ = now_ns;
    }
  }

  void end(std::uint64_t now_ns) noexcept {
    if (--under_way_ == 0) {
      ended_ns_ += now_ns - since_ns_;
    }
  }

  [[nodiscard]] std::uint64_t total_ns(std::uint64_t now_ns) const noexcept {
    return under_way_ == 0 ? ended_ns_ : ended_ns_ + (now_ns - since_ns_);
  }

 private:
  unsigned under_way_ = 0;
  std::uint64_t since_ns_ = 0;  ///< valid while any is under way
  std::uint64_t ended_ns_ = 0;
};

}  // namespace datum::sim
