// The host's own clock, in which an application's time-outs are measured.
#pragma once

#include <cstdint>
#include <time.h>

namespace datum {

/// CLOCK_MONOTONIC in nanoseconds.
[[nodiscard]] inline std::uint64_t host_now_ns() noexcept {
  timespec now{};
  ::clock_gettime(CLOCK_MONOTONIC, &now);
  return static_cast<std::uint64_t>(now.tv_sec) * 1'000'000'000U + static_cast<std::uint64_t>(now.tv_nsec);
}

/// `from_ns` + `add_ns`, or ~0 ("never") when that does not fit.
[[nodiscard]] constexpr std::uint64_t saturating_add(std::uint64_t from_ns, std::uint64_t add_ns) noexcept {
  return add_ns > ~0ULL - from_ns ? ~0ULL : from_ns + add_ns;
}

/// `ns` x `factor`, or ~0 when that does not fit.
[[nodiscard]] constexpr std::uint64_t saturating_scale(std::uint64_t ns, unsigned factor) noexcept {
  return factor != 0 && ns > ~0ULL / factor ? ~0ULL : ns * factor;
}

}  // namespace datum
