// An event as a recorded command remembers it: by handle, so that a destroyed event is noticed and not
// followed.
#pragma once

#include "driver/command/event.hpp"
#include "driver/object/handle_table.hpp"

namespace datum {

class EventReference {
 public:
  EventReference() noexcept = default;

  explicit EventReference(Event* event) noexcept
      : handle_(event == nullptr ? nullptr : event->handle()), event_(event) {}

  /// There is none.
  [[nodiscard]] bool none() const noexcept { return event_ == nullptr; }

  /// The event, or null when it was destroyed since.
  [[nodiscard]] Event* get() const noexcept {
    return find_object(ObjectType::event, handle_) == event_ ? event_ : nullptr;
  }

 private:
  HandleSlot* handle_ = nullptr;
  Event* event_ = nullptr;
};

}  // namespace datum
