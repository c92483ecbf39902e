// Carries out descriptors, a slice at a time.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include "sim/board/timebase.hpp"
#include "sim/model/counters.hpp"
#include "sim/model/memory_port.hpp"
#include "sim/model/mmu.hpp"
#include "sim/model/ring.hpp"
#include "sim/model/word_watch.hpp"

namespace datum::sim {

class Executor {
 public:
  enum class Outcome : std::uint8_t { unfinished, completed, parked, failed };

  struct Result {
    Outcome outcome = Outcome::unfinished;
    Failure failure;
  };

  Executor(MemoryPort& memory, Mmu& mmu, WordWatch& watch, Counters& counters, const Timebase& timebase)
      : memory_(memory), mmu_(mmu), watch_(watch), counters_(counters), timebase_(timebase) {}

  /// Goes on with the ring's fetched descriptor. `number` is the ring's.
  Result step(unsigned number, Ring& ring);

 private:
  struct Place {
    unsigned space = 0;
    std::uint64_t va = 0;
  };

  Result copy(Ring& ring);
  Result copy_region(Ring& ring);
  Result fill(Ring& ring);
  Result write_value(Ring& ring, std::uint64_t value, unsigned bytes);
  Result wait_value(unsigned number, Ring& ring);

  /// Moves up to a slice of `bytes`, of which `done` are done already.
  Failure copy_slice(const Ring& ring, Place from, Place to, std::uint64_t bytes, std::uint64_t& done);
  [[nodiscard]] static Failure check_range(const Ring& ring, Place place, std::uint64_t bytes,
                                           bool write) noexcept;
  /// Why the last read failed.
  [[nodiscard]] Failure read_failure(Target target, Place place) const noexcept;
  [[nodiscard]] Failure translate(Place place, std::uint64_t max_bytes, bool write, Mmu::Translation& to);

  MemoryPort& memory_;
  Mmu& mmu_;
  WordWatch& watch_;
  Counters& counters_;
  const Timebase& timebase_;
  std::vector<std::byte> pattern_;
};

}  // namespace datum::sim
