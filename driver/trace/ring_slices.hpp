// When each descriptor of a ring was under way, as far as its submission and its record tell.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include "driver/trace/event.hpp"

namespace datum::trace {

/// A slice of a ring's track. Those of one ring lie beside or inside one another.
struct DescriptorSlice {
  const Event* descriptor = nullptr;
  const Event* completion = nullptr;  ///< the record that ended it; null: none came
  std::uint64_t begin_ns = 0;
  std::uint64_t end_ns = 0;
};

/// TIMER as host time, by the readings of both that are among the events of one board.
class BoardTime {
 public:
  void add_reading(const Event& clock);
  /// `latest_ns` where there was no reading, or the clocks are not comparable; never later than that.
  [[nodiscard]] std::uint64_t host_ns(std::uint64_t ticks, std::uint64_t earliest_ns,
                                      std::uint64_t latest_ns) const;
  /// CYCLES when TIMER was `ticks`: exact as far as the clock ran evenly between two readings. Nothing where
  /// there was none.
  [[nodiscard]] std::optional<std::uint64_t> cycle(std::uint64_t ticks) const;

 private:
  std::vector<const Event*> readings_;
};

/// The slices of one ring. `events`: its ring_start, descriptor, doorbell and completion events, in order. A
/// descriptor's slice begins when it was submitted, or when the record before it came, whichever is later:
/// what the board fetches ahead does not show. It ends with the first record that covers it.
[[nodiscard]] std::vector<DescriptorSlice> slices_of_ring(const std::vector<const Event*>& events,
                                                          const BoardTime& time);

}  // namespace datum::trace
