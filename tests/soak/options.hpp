// What a soak is asked for on its command line.
#pragma once

#include <chrono>
#include <cstdint>
#include <optional>

namespace datum::soak {

struct Options {
  std::chrono::seconds duration{60};  ///< no epoch begins after it
  std::uint64_t epochs = 0;           ///< 0: as many as the duration allows
  std::uint64_t seed = 1;
  bool resets = true;  ///< boards are reset under the work, by force
  unsigned threads = 4;
  unsigned peers = 2;  ///< other processes, each with a thread here that deals with it
};

/// Says on standard error what it does not understand.
[[nodiscard]] std::optional<Options> read_options(int count, char** arguments);

}  // namespace datum::soak
