#include "driver/command/hang_check.hpp"

#include <algorithm>
#include <span>
#include <utility>

#include <fmt/format.h>

#include <datum/hw/registers.hpp>

#include "driver/command/lent_ring.hpp"
#include "driver/command/waited_word.hpp"
#include "driver/device/board.hpp"
#include "driver/device/host_clock.hpp"
#include "driver/device/limits.hpp"
#include "driver/device/traffic_counters.hpp"

namespace datum {

namespace {

std::uint64_t bytes_of(const hw::Descriptor& descriptor) {
  switch (descriptor.opcode()) {
  case hw::Opcode::copy:
  case hw::Opcode::fill:
    return descriptor.bytes();
  case hw::Opcode::copy_region: {
    std::uint64_t bytes = std::uint64_t{descriptor.region_x_bytes()} * descriptor.region_rows();
    return __builtin_mul_overflow(bytes, descriptor.region_planes(), &bytes) ? ~0ULL : bytes;
  }
  default:
    return 0;
  }
}

RingProgress read_progress(Board& board, const Ring& ring) {
  RingProgress now;
  now.ring = ring.index();
  now.head = board.read32(hw::ring_head(ring.index()));
  now.completed = ring.completed();
  const bool says_parked =
      board.read32(hw::ring_state(ring.index())) == static_cast<std::uint32_t>(hw::RingState::parked);
  // What the board says is believed only where it can be: HEAD within what was rung, and at a wait whose word
  // does not let it pass.
  const std::uint32_t outstanding = ring.filled() - now.completed;
  if (now.head - now.completed > outstanding) {
    now.head = now.completed;
  }
  if (now.head != ring.filled()) {
    const hw::Descriptor& next = ring.slot(now.head + 1);
    now.parked =
        says_parked && next.opcode() == hw::Opcode::wait_value && look_at_waited_word(next) == Held::no;
  }
  for (std::uint32_t number = now.completed; number != now.head && number != ring.filled(); ++number) {
    const std::uint64_t bytes = bytes_of(ring.slot(number + 1));
    now.begun_bytes = saturating_add(now.begun_bytes, bytes);
  }
  return now;
}

/// HEAD never goes back; a board that says so has not gone on.
bool goes_on(std::uint32_t before, std::uint32_t now) noexcept {
  return static_cast<std::int32_t>(now - before) > 0;
}

/// Whether a board that moved `moved_bytes` in `still_ns` may yet be at work of `work_bytes`.
bool crawls(std::uint64_t moved_bytes, std::uint64_t still_ns, std::uint64_t work_bytes) noexcept {
  const std::uint64_t pace = saturating_scale(still_ns / limits::ns_per_ms, limits::crawling_bytes_per_ms);
  return moved_bytes >= pace && moved_bytes < saturating_scale(work_bytes, limits::work_moved_over);
}

}  // namespace

std::optional<unsigned> HangCheck::find_stuck(const BoardProgress& now) {
  const std::uint64_t most_ns = 2 * limits::health_check_ns;
  const std::uint64_t host_passed_ns = std::min(now.host_ns - last_host_ns_, most_ns);
  const std::uint64_t board_passed_ns =
      std::min(now.board_ns - last_board_ns_, saturating_scale(most_ns, now.wait_scale));
  const std::uint64_t moved_bytes =
      saturating_scale(now.beats - last_beats_, static_cast<unsigned>(bus_beat_bytes));
  const bool moves_data = moved_bytes != 0;
  last_beats_ = now.beats;
  last_board_ns_ = now.board_ns;
  last_host_ns_ = now.host_ns;
  const std::array<Seen, limits::max_rings> before = std::exchange(seen_, {});
  std::optional<unsigned> stuck;
  for (const RingProgress& ring : now.rings) {
    Seen& seen = seen_[ring.ring];
    seen = before[ring.ring];
    if (!seen.known || ring.parked || goes_on(seen.head, ring.head) || seen.completed != ring.completed) {
      seen = {ring.head, ring.completed, true, 0, 0, 0, 0};
      continue;
    }
    seen.still_ns = saturating_add(seen.still_ns, board_passed_ns);
    seen.moved_bytes = saturating_add(seen.moved_bytes, moved_bytes);
    seen.dead_ns = moves_data ? 0 : saturating_add(seen.dead_ns, board_passed_ns);
    seen.dead_host_ns = moves_data ? 0 : saturating_add(seen.dead_host_ns, host_passed_ns);
    const std::uint64_t work_ns = saturating_add(
        limits::no_progress_ns, ring.begun_bytes / limits::slow_bytes_per_us * limits::ns_per_us);
    const auto sharers = static_cast<unsigned>(now.rings.size());
    const std::uint64_t shared_ns = saturating_scale(work_ns, sharers);
    const bool overdue =
        seen.still_ns >= saturating_scale(shared_ns, now.wait_scale) &&
        !crawls(seen.moved_bytes, seen.still_ns, saturating_scale(ring.begun_bytes, sharers));
    if (seen.dead_ns >= saturating_scale(limits::no_progress_ns, now.wait_scale) ||
        seen.dead_host_ns >= saturating_scale(limits::register_wait_host_ns, now.wait_scale) || overdue) {
      stuck = stuck.value_or(ring.ring);
    }
  }
  return stuck;
}

std::optional<std::string> HangCheck::look(Board& board, const WorkingRings& rings) {
  std::array<RingProgress, limits::max_rings> places;
  const std::span<RingProgress> progress = std::span(places).first(rings.count);
  std::transform(rings.first.begin(), rings.first.begin() + rings.count, progress.begin(),
                 [&](const LentRing* lent) { return read_progress(board, lent->ring); });
  const board::Clock clock = board.function().clock();
  BoardProgress now;
  now.rings = progress;
  now.beats = board.read64(hw::perf_host_read_beats) + board.read64(hw::perf_host_write_beats) +
              board.read64(hw::perf_dram_reads) + board.read64(hw::perf_dram_writes);
  now.board_ns = clock.now_ns;
  now.host_ns = host_now_ns();
  now.wait_scale = std::max(clock.wait_scale, 1U);
  const std::optional<unsigned> stuck = find_stuck(now);
  if (!stuck) {
    return std::nullopt;
  }
  const auto of = std::find_if(progress.begin(), progress.end(),
                               [&](const RingProgress& ring) { return ring.ring == *stuck; });
  return fmt::format("the board answers but does not go on: ring {} stands at descriptor {} (HEAD {})",
                     *stuck, of->completed + 1, of->head);
}

}  // namespace datum
