// Interrupt messages arrive here and become eventfds.
#pragma once

#include <cstdint>
#include <utility>
#include <vector>

#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>
#include <datum/board/pcie_function.hpp>

namespace datum::sim {

/// Safe from any thread. The descriptor of all vectors is there from the start, so that a process that has
/// none left can still wait; that of a single vector is made when it is first asked for: a board with 66
/// vectors mostly needs one or two.
class Interrupts {
 public:
  /// `any`: the descriptor of all vectors; invalid where nobody waits (tests of parts).
  explicit Interrupts(unsigned vectors, UniqueFd any = {})
      : count_(vectors), vectors_(vectors), any_(std::move(any)) {}

  [[nodiscard]] unsigned vectors() const noexcept { return count_; }

  void raise(unsigned vector);
  /// Forgets what was raised and not consumed.
  void clear();

  /// The eventfd of a vector, owned by this object. invalid_argument: no such vector; out_of_host_memory: no
  /// descriptor to be had.
  Result<int> descriptor(unsigned vector);

  /// An eventfd that is written whenever any vector is raised.
  [[nodiscard]] int any_descriptor() const noexcept { return any_.get(); }

  /// From now on `vector` is raised by `fd`, a descriptor of another process; an invalid one: by nothing.
  /// What was raised before and not consumed is raised again there. `vector` < vectors(). Writing to `fd`
  /// never waits.
  void connect(unsigned vector, UniqueFd fd);
  /// Raised while nothing was connected.
  [[nodiscard]] bool is_pending(unsigned vector);

  /// Whether `vector` (or any, for board::any_vector) was raised since it was last consumed; consumes it.
  bool consume(unsigned vector);

 private:
  struct Vector {
    bool raised = false;  // only while there is no descriptor, which keeps the count from then on
    UniqueFd fd;
    UniqueFd foreign;
  };

  bool consume_locked(Vector& vector) DATUM_REQUIRES(mutex_);

  unsigned count_;
  Mutex mutex_;
  std::vector<Vector> vectors_ DATUM_GUARDED_BY(mutex_);
  UniqueFd any_;
};

/// A non-blocking eventfd. out_of_host_memory when the process has no descriptor left.
[[nodiscard]] Result<UniqueFd> make_eventfd(std::uint64_t count);
/// Adds one; an eventfd that is full is readable anyway.
void signal_eventfd(int fd) noexcept;
/// The same for a descriptor of another process, which may be anything, and full: never waits.
void signal_foreign(int fd) noexcept;
/// True if it was readable; its counter is 0 then.
[[nodiscard]] bool drain_eventfd(int fd) noexcept;

}  // namespace datum::sim
