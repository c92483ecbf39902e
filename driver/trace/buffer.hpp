// The events of a process: a buffer of fixed size, in which new ones take the place of the oldest.
#pragma once

#include <atomic>
#include <cstddef>
#include <cstdint>
#include <vector>

#include "driver/trace/event.hpp"

namespace datum::trace {

class Buffer {
 public:
  /// Memory is used only as events come. False: there is no address space for it.
  [[nodiscard]] bool allocate(std::size_t events) noexcept;
  /// As if nothing had been noted. Not while anybody notes.
  void clear() noexcept;

  /// Notes a copy of `event`. Any thread; wait-free. A thread that is stopped in here for as long as it takes
  /// to fill the buffer leaves an event that is mended or left out.
  void add(const Event& event) noexcept;

  /// The events that are whole, in the order in which they were added.
  [[nodiscard]] std::vector<const Event*> whole() const;
  /// How many were overwritten.
  [[nodiscard]] std::uint64_t lost() const noexcept;

  [[nodiscard]] bool allocated() const noexcept { return events_ != nullptr; }

 private:
  Event* events_ = nullptr;
  std::size_t capacity_ = 0;
  std::atomic<std::uint64_t> next_{0};
};

}  // namespace datum::trace
