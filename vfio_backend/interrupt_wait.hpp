// Waiting for an interrupt until a deadline, for cards and served boards alike.
#pragma once

#include <cstdint>
#include <utility>

#include <fmt/format.h>

#include <datum/board/pcie_function.hpp>

namespace datum::vfio {

/// What ended one sleep on the descriptors of a board.
enum class Seen : std::uint8_t {
  interrupt,  ///< which was consumed
  notice,     ///< something that the board's health has to tell about
  woken,      ///< the caller's own descriptor is readable
  nothing,    ///< the time is over, or a signal came
};

/// PcieFunction::wait of `function`. `sleep` takes the most nanoseconds to sleep (no_deadline: no bound) and
/// gives a Result<Seen>.
template <class Sleep>
Result<board::WaitOutcome> wait_for_interrupt(board::PcieFunction& function, unsigned vector,
                                              std::uint64_t deadline_ns, Sleep&& sleep) {
  if (const unsigned vectors = function.info().vectors; vector != board::any_vector && vector >= vectors) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("vector {} of a board with {}", vector, vectors));
  }
  for (;;) {
    const std::uint64_t now_ns = function.clock().now_ns;
    const std::uint64_t left_ns = deadline_ns == board::no_deadline ? board::no_deadline
                                  : deadline_ns > now_ns            ? deadline_ns - now_ns
                                                                    : 0;
    const Result<Seen> seen = sleep(left_ns);
    if (!seen) {
      return seen.error();
    }
    switch (*seen) {
    case Seen::interrupt:
      return board::WaitOutcome::interrupt;
    case Seen::woken:
      return board::WaitOutcome::woken;
    case Seen::notice:
      if (Status status = function.health(); !status) {
        return std::move(status).error();
      }
      break;
    case Seen::nothing:
      if (deadline_ns != board::no_deadline && function.clock().now_ns >= deadline_ns) {
        return board::WaitOutcome::deadline;
      }
      break;
    }
  }
}

}  // namespace datum::vfio
