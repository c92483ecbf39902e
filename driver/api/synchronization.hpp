// The signal and wait events that nearly every append takes.
#pragma once

#include <array>
#include <cstdint>
#include <span>
#include <vector>

#include <level_zero/ze_api.h>

namespace datum {
class CommandList;
class Event;
}  // namespace datum

namespace datum::api {

/// The events of one call, found and checked.
class Synchronization {
 public:
  /// SUCCESS, INVALID_SIZE, INVALID_SYNCHRONIZATION_OBJECT. `signal` may be null.
  ze_result_t resolve(CommandList& list, ze_event_handle_t signal, std::uint32_t wait_count,
                      const ze_event_handle_t* waits);
  /// The same for waits alone, whose array was checked.
  ze_result_t resolve_waits(CommandList& list, std::uint32_t wait_count, const ze_event_handle_t* waits);

  [[nodiscard]] Event* signal() const noexcept { return signal_; }

  [[nodiscard]] std::span<Event* const> waits() const noexcept { return waits_; }

 private:
  Event* signal_ = nullptr;
  std::span<Event*> waits_;
  std::array<Event*, 8> few_{};
  std::vector<Event*> many_;
};

}  // namespace datum::api
