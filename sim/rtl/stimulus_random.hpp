// Random numbers of the stimulus: the same sequence for the same seed, everywhere.
#pragma once

#include <cstdint>

namespace datum::sim {

/// splitmix64.
class StimulusRandom {
 public:
  explicit StimulusRandom(std::uint64_t seed) noexcept : state_(seed) {}

  std::uint64_t next() noexcept {
    state_ += 0x9e3779b97f4a7c15ULL;
    auto word = state_;
    word = (word ^ (word >> 30U)) * 0xbf58476d1ce4e5b9ULL;
    word = (word ^ (word >> 27U)) * 0x94d049bb133111ebULL;
    return word ^ (word >> 31U);
  }

  /// True in about `percent` of all calls; without drawing a number when it is 0.
  bool happens(unsigned percent) noexcept { return percent != 0 && next() % 100 < percent; }

 private:
  std::uint64_t state_;
};

}  // namespace datum::sim
