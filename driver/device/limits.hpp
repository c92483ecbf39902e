// Every bound that the driver puts on a board, with its reason. Times are those of a card; the seam's clock
// scales them.
#pragma once

#include <cstdint>

#include <datum/base/address.hpp>
#include <datum/board/pcie_function.hpp>

namespace datum::limits {

// --- time

inline constexpr std::uint64_t ns_per_us = 1'000;
inline constexpr std::uint64_t ns_per_ms = 1'000'000;
inline constexpr std::uint64_t ns_per_s = 1'000'000'000;

/// Reset waits for outstanding bus transfers; PCIe's completion time-out range ends at 64 s, but root ports
/// use 50 ms by default.
inline constexpr std::uint64_t reset_ns = 500 * ns_per_ms;
/// DRAM initialisation and calibration of a real controller takes some hundred milliseconds.
inline constexpr std::uint64_t memory_ready_ns = 2 * ns_per_s;
/// An invalidation waits for accesses that used the translation: at most one burst of each channel, far below
/// a millisecond.
inline constexpr std::uint64_t invalidation_ns = 200 * ns_per_ms;
/// Stopping a ring waits for its outstanding accesses, as above.
inline constexpr std::uint64_t ring_stop_ns = 200 * ns_per_ms;
/// Clearing one piece of pages, counted from the last sign of progress: what a board that moves 10 MB/s
/// needs, and a start-up allowance. A slow board that goes on is not a dead one, however much there is to
/// clear.
inline constexpr std::uint64_t clear_piece_ns = 600 * ns_per_ms;
/// A board with work that is not parked begins or ends a descriptor or moves a beat of data within
/// microseconds; a bus that recovers from an error takes at most some hundred milliseconds (PCIe links
/// retrain in 100 ms). Four seconds leave room for a loaded host that simulates it.
inline constexpr std::uint64_t no_progress_ns = 4 * ns_per_s;
/// What the slowest board moves, for work that is known by its size only: 10 MB/s, as above.
inline constexpr std::uint64_t slow_bytes_per_us = 10;
/// A simulated board behind a card's address, as in a virtual machine on a loaded host, may be a fortieth of
/// that and cannot say so. While it moves data at this pace or faster it is given time ...
inline constexpr unsigned crawling_bytes_per_ms = 250;
/// ... until it has moved its work this many times over: reads and writes, copies of others between.
inline constexpr unsigned work_moved_over = 8;
/// How often a sleeping waiter asks whether the board is still there. Cheap (one register), and a second is
/// soon enough for a human.
inline constexpr std::uint64_t health_check_ns = 500 * ns_per_ms;
/// The same for a board that keeps its own time, in that time: 300,000 cycles, which take RTL about a second
/// of the host's.
inline constexpr std::uint64_t own_time_check_ns = 1 * ns_per_ms;
/// Before it sleeps, a waiter polls for about as long as a small copy and its interrupt take.
inline constexpr std::uint64_t spin_ns = 5 * ns_per_us;
/// And at most this often, for a board whose clock stands still; a running clock passes spin_ns long before.
inline constexpr unsigned spin_turns = 4096;
/// Boards that advance only inside calls take turns of this length with the board that is waited for.
inline constexpr std::uint64_t board_slice_ns = 10 * ns_per_us;
/// So many turns at most between two checks of health, for a board whose clock stands still.
inline constexpr unsigned turns_between_checks = 1U << 17U;
/// A time-out that passes in a board's own time may come later than in the host's, as RTL is some hundred
/// times slower than what it stands for; by no more than this, however slow the board is.
inline constexpr std::uint64_t late_timeout_host_ns = 30 * ns_per_s;
/// A quiescent board is asked again after this long: somebody outside may have changed a word that it
/// watches.
inline constexpr std::uint64_t quiescent_recheck_min_ns = 1 * ns_per_ms;
inline constexpr std::uint64_t quiescent_recheck_max_ns = 50 * ns_per_ms;
/// Two clocks that differ by less than this are taken to be the same one.
inline constexpr std::uint64_t same_clock_ns = 100 * ns_per_ms;
/// No wait for a register lasts longer than this in host time, even where board time stands still.
inline constexpr std::uint64_t register_wait_host_ns = 30 * ns_per_s;
/// Work whose last word is already written still owes its completion record; it follows within bus latencies.
inline constexpr std::uint64_t record_lag_ns = 100 * ns_per_ms;
/// A parked ring looks again at a word that somebody else may have written this often. For a board that runs
/// slower than a card a look takes longer too, and it would do little else.
inline constexpr std::uint64_t park_recheck_ns = 1 * ns_per_ms;
/// Words that another board writes raise no interrupt here: the worker looks at them this often while
/// somebody waits for one.
inline constexpr std::uint64_t foreign_word_poll_ns = 1 * ns_per_ms;

/// `bound_ns` of a card, on the board behind `clock`.
[[nodiscard]] constexpr std::uint64_t scaled(std::uint64_t bound_ns, const board::Clock& clock) noexcept {
  const std::uint64_t scale = clock.wait_scale == 0 ? 1 : clock.wait_scale;
  return bound_ns > ~0ULL / scale ? ~0ULL : bound_ns * scale;
}

// --- what a board may say about itself

/// Two rings are the least that works: the driver's own and one for queues. Register blocks end at 64.
inline constexpr unsigned min_rings = 2;
inline constexpr unsigned max_rings = 64;
inline constexpr unsigned max_channels = 64;
/// Space 0 is the driver's own; one more makes a context.
inline constexpr unsigned min_spaces = 2;
inline constexpr unsigned max_spaces = 256;
/// Page tables, rings' own needs and one 2 MiB page must fit.
inline constexpr std::uint64_t min_memory_bytes = 16ULL << 20U;
/// Far above what a card carries. The driver's own books take a 32768th of it, so what a board says here
/// costs host memory. (Space 0 maps ordinal 0 below VA 2^46 and ordinal 1 above it.)
inline constexpr std::uint64_t max_memory_bytes = 1ULL << 42U;
/// Page tables live in the fixed part of the aperture.
inline constexpr std::uint64_t min_aperture_fixed_bytes = 1ULL << 20U;
inline constexpr std::uint64_t min_clock_hz = 1'000;
inline constexpr std::uint64_t max_clock_hz = 100'000'000'000;

// --- sizes the driver chooses

/// Every word of the memory is looked at once a day, as servers do: a second bit of a word that nobody reads
/// seldom turns before the first one is repaired, and the memory loses nothing that could be measured.
inline constexpr std::uint64_t scrub_pass_s = 24ULL * 60 * 60;
/// What one scrub reads: a column of the board contract.
inline constexpr std::uint64_t scrub_bytes = 64;

/// Slots of a ring: 64 KiB of descriptors, enough that lists of hundreds of commands need no second feeding.
inline constexpr unsigned ring_size_log2 = 10;
/// The driver's own ring only clears pages.
inline constexpr unsigned own_ring_size_log2 = 6;
/// Of the rings for queues, one in this many (at least one) is kept for work that cannot park.
inline constexpr unsigned reserve_divisor = 8;
/// One piece of a copy that goes through staging memory.
inline constexpr std::uint64_t staging_bytes = 256ULL << 10U;
/// One descriptor clears at most this much, so that several channels share the work and progress shows.
inline constexpr std::uint64_t clear_piece_bytes = 1ULL << 20U;
/// One descriptor moves at most this much, so that several channels share a large copy.
inline constexpr std::uint64_t copy_piece_bytes = 64ULL << 20U;
/// Events of one pool, 64 bytes of locked host memory each: 1 GiB, far above what programs use (one MPI start
/// takes 12,288). More would lock the machine's memory away.
inline constexpr std::uint32_t max_pool_events = 1U << 24U;
/// An exporter's thread answers in microseconds; one that is stopped or overloaded is given up after this.
inline constexpr std::uint64_t ipc_answer_ns = 2 * ns_per_s;
/// Connections that wait for an exporter's answer; further ones wait in the kernel.
inline constexpr int ipc_waiting_peers = 64;
/// Freed allocations whose handles may still be put: 24 bytes each. Who never puts loses nothing but the
/// code.
inline constexpr std::size_t kept_freed_handles = 65536;
/// Files of large host allocations that are kept open, so that sharing them copies nothing: this many, or
/// this part of the descriptors that the process may have, so that the application's share stays large.
inline constexpr std::size_t most_host_files = 64;
inline constexpr std::size_t host_file_divisor = 16;
/// How long the worker lets the heap be used up before it looks again: long enough to cost nothing.
inline constexpr std::uint64_t memory_retry_ns = ns_per_s / 1000;
/// Sentences of failures that are kept for whoever asks about an event later.
inline constexpr unsigned kept_failures = 256;

}  // namespace datum::limits
