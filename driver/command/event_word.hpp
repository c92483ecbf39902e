// The word by which an event is signalled: by the board, by the host, with or without an error.
#pragma once

#include <cstdint>

namespace datum {

/// Bit 0: signalled. Bit 63: the work that would have signalled it failed; bits 62:43 then hold the process
/// (ExportTable::process_tag), bits 42:33 its device's index and bits 32:1 the failure's number there.
namespace event_word {

inline constexpr std::uint64_t cleared = 0;
inline constexpr std::uint64_t signalled = 1;
inline constexpr std::uint64_t signalled_mask = 1;
inline constexpr std::uint64_t error_mask = 1ULL << 63U;

[[nodiscard]] constexpr std::uint64_t failure(std::uint32_t process, unsigned device_index,
                                              std::uint32_t number) noexcept {
  return error_mask | (static_cast<std::uint64_t>(process & 0xf'ffffU) << 43U) |
         (static_cast<std::uint64_t>(device_index & 0x3ffU) << 33U) |
         (static_cast<std::uint64_t>(number) << 1U);
}

[[nodiscard]] constexpr std::uint32_t failed_process(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word >> 43U) & 0xf'ffffU;
}

[[nodiscard]] constexpr unsigned failed_device(std::uint64_t word) noexcept {
  return static_cast<unsigned>((word >> 33U) & 0x3ffU);
}

[[nodiscard]] constexpr std::uint32_t failure_number(std::uint64_t word) noexcept {
  return static_cast<std::uint32_t>(word >> 1U);
}

}  // namespace event_word

/// What one event occupies in its pool's memory; the board reads and writes the first three words.
struct alignas(64) EventSlot {
  std::uint64_t state = 0;     ///< event_word; accessed atomically
  std::uint64_t start_ns = 0;  ///< TIMER when the command that signals it began
  std::uint64_t end_ns = 0;    ///< TIMER when it ended
  std::uint64_t timed_by = 0;  ///< whose TIMER, as event_word::failure says it; in pools of several processes
};

static_assert(sizeof(EventSlot) == 64);

}  // namespace datum
