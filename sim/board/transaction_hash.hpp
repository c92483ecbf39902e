// A running hash of everything that crossed the board's buses: two runs with the same value did the same at
// the same cycles.
#pragma once

#include <cstddef>
#include <cstdint>
#include <cstring>
#include <memory>
#include <span>
#include <utility>

#include "sim/board/transaction_log.hpp"

namespace datum::sim {

/// Costs nothing until it is switched on. Under the board's turn.
class TransactionHash {
 public:
  enum class Kind : std::uint8_t {
    host_read = 1,
    host_write,
    message,
    register_read,
    register_write,
    aperture_read,
    aperture_write
  };

  void enable() noexcept { enabled_ = true; }

  /// Switches it on, too.
  void log_to(std::unique_ptr<TransactionLog> log) noexcept {
    log_ = std::move(log);
    enabled_ = true;
  }

  [[nodiscard]] std::uint64_t value() const noexcept { return value_; }

  void add(Kind kind, std::uint64_t cycle, std::uint64_t address, std::uint64_t extent,
           std::span<const std::byte> data) noexcept {
    if (!enabled_) {
      return;
    }
    mix(static_cast<std::uint64_t>(kind));
    mix(cycle);
    mix(address);
    mix(extent);
    std::size_t at = 0;
    for (; at + sizeof(std::uint64_t) <= data.size(); at += sizeof(std::uint64_t)) {
      std::uint64_t word = 0;
      std::memcpy(&word, data.data() + at, sizeof word);
      mix(word);
    }
    for (; at < data.size(); ++at) {
      mix(static_cast<std::uint64_t>(data[at]));
    }
    if (log_ != nullptr) {
      log_->add(name_of(kind), cycle, address, extent, value_);
    }
  }

 private:
  [[nodiscard]] static const char* name_of(Kind kind) noexcept {
    constexpr const char* names[] = {"",
                                     "host-read",
                                     "host-write",
                                     "message",
                                     "register-read",
                                     "register-write",
                                     "aperture-read",
                                     "aperture-write"};
    return names[static_cast<std::size_t>(kind)];
  }

  void mix(std::uint64_t word) noexcept {
    value_ = (value_ ^ word) * 0x9e3779b97f4a7c15ULL;
    value_ ^= value_ >> 29U;
  }

  std::uint64_t value_ = 0x243f6a8885a308d3ULL;
  bool enabled_ = false;
  std::unique_ptr<TransactionLog> log_;
};

}  // namespace datum::sim
