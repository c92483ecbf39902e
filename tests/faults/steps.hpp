// The steps of a call that can fail, and one of them failing: the heap, system calls, the board's function.
#pragma once

#include <array>
#include <cstdint>
#include <string_view>
#include <type_traits>

#include "tests/fakes/fault_function.hpp"

namespace datum::test {

enum class StepKind : std::uint8_t {
  heap,
  mmap,
  mprotect,
  memfd_create,
  ftruncate,
  fcntl,
  eventfd,
  socket,
  dma_map,
  dma_map_fd,
  export_memory,
};

inline constexpr std::array step_kinds{
    StepKind::heap,      StepKind::mmap,       StepKind::mprotect,      StepKind::memfd_create,
    StepKind::ftruncate, StepKind::fcntl,      StepKind::eventfd,       StepKind::socket,
    StepKind::dma_map,   StepKind::dma_map_fd, StepKind::export_memory,
};

[[nodiscard]] std::string_view name_of(StepKind kind) noexcept;

/// Runs `work` with its step of that kind and number, counted from 1, failing; the steps of other threads do
/// not count. False: it has fewer of them.
bool fail_step(FaultFunction& function, StepKind kind, unsigned number, void (*work)(void*), void* argument);

template <class Work>
bool fail_step(FaultFunction& function, StepKind kind, unsigned number, Work&& work) {
  return fail_step(
      function, kind, number,
      [](void* argument) { (*static_cast<std::remove_reference_t<Work>*>(argument))(); }, &work);
}

}  // namespace datum::test
