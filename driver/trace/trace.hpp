// Whether this process is traced (DATUM_TRACE=FILE), and how happenings are noted.
//
// Whoever has something to note asks on() first: one relaxed load of a flag that is off in nearly every
// process.
#pragma once

#include <atomic>
#include <cstdint>
#include <initializer_list>
#include <string_view>
#include <type_traits>

#include "driver/trace/event.hpp"

namespace datum::trace {

extern std::atomic<bool> is_on;

[[nodiscard]] inline bool on() noexcept { return is_on.load(std::memory_order_relaxed); }

/// Begins a trace if DATUM_TRACE names a file and this process has none yet; a forked child begins one of its
/// own. The file is written when the process exits. What cannot be is told on standard error, once. Before
/// boards are opened.
void start_if_wanted() noexcept;

/// Writes the file now and ends the trace; what happens later is not in it. Called at exit.
void finish() noexcept;

/// CLOCK_MONOTONIC, nanoseconds.
[[nodiscard]] std::uint64_t now_ns() noexcept;

/// The API call that this thread is in; 0: none.
[[nodiscard]] std::uint64_t current_call() noexcept;

/// Notes an event of `kind` that has just happened. Any thread; wait-free. The oldest events are overwritten
/// when the buffer is full. Only while on().
void note(Kind kind, const char* name, std::uint8_t board, std::uint16_t ring,
          std::initializer_list<std::uint64_t> words, std::uint64_t id = 0) noexcept;

/// An event that began at `begin_ns` and ends now.
void note_span(Kind kind, const char* name, std::uint64_t begin_ns, std::uint8_t board,
               std::initializer_list<std::uint64_t> words) noexcept;

/// A board was opened. The number stands for it in events. Only while on().
[[nodiscard]] std::uint8_t note_board(std::string_view address) noexcept;

/// An argument as the trace keeps it: numbers and pointers; 0 for structures.
template <class Argument>
[[nodiscard]] std::uint64_t word_of([[maybe_unused]] const Argument& argument) noexcept {
  if constexpr (std::is_pointer_v<Argument>) {
    return reinterpret_cast<std::uintptr_t>(argument);
  } else if constexpr (std::is_arithmetic_v<Argument> || std::is_enum_v<Argument>) {
    return static_cast<std::uint64_t>(argument);
  } else {
    return 0;
  }
}

/// An API call from here to the end of the scope. Only while on().
class Call {
 public:
  /// `signature` is a literal: "zeMemFree(hContext, ptr)".
  Call(const char* signature, std::initializer_list<std::uint64_t> arguments) noexcept;
  ~Call();
  Call(const Call&) = delete;
  Call& operator=(const Call&) = delete;

  void set_result(std::int32_t result) noexcept { result_ = result; }

 private:
  const char* signature_;
  std::uint64_t begin_ns_;
  std::uint64_t number_;
  std::uint64_t outer_;
  std::int32_t result_ = 0;
  std::uint32_t count_ = 0;
  std::array<std::uint64_t, 9> words_{};
};

}  // namespace datum::trace
