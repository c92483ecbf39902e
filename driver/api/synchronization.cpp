#include "driver/api/synchronization.hpp"

#include "driver/api/handles.hpp"
#include "driver/command/command_list.hpp"
#include "driver/command/event.hpp"

namespace datum::api {

namespace {

/// The event, or null after a refusal.
Event* find_usable(CommandList& list, ze_event_handle_t handle, ze_result_t& result) {
  Event* event = find<Event>(handle);
  if (event == nullptr) {
    result =
        refuse(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, "an event handle is not that of a live event");
    return nullptr;
  }
  if (!event->usable_by(list.device(), list.context())) {
    result = refuse(ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT,
                    "an event's pool was created for another context or other devices");
    return nullptr;
  }
  return event;
}

}  // namespace

ze_result_t Synchronization::resolve(CommandList& list, ze_event_handle_t signal, std::uint32_t wait_count,
                                     const ze_event_handle_t* waits) {
  if (waits == nullptr && wait_count > 0) {
    return refuse(ZE_RESULT_ERROR_INVALID_SIZE, "numWaitEvents is not 0, but phWaitEvents is null");
  }
  if (const ze_result_t result = resolve_waits(list, wait_count, waits); result != ZE_RESULT_SUCCESS) {
    return result;
  }
  ze_result_t result = ZE_RESULT_SUCCESS;
  if (signal != nullptr) {
    signal_ = find_usable(list, signal, result);
  }
  return result;
}

ze_result_t Synchronization::resolve_waits(CommandList& list, std::uint32_t wait_count,
                                           const ze_event_handle_t* waits) {
  if (wait_count > few_.size()) {
    many_.resize(wait_count);
    waits_ = many_;
  } else {
    waits_ = std::span(few_).first(wait_count);
  }
  ze_result_t result = ZE_RESULT_SUCCESS;
  for (std::uint32_t index = 0; index < wait_count && result == ZE_RESULT_SUCCESS; ++index) {
    waits_[index] = find_usable(list, waits[index], result);
  }
  return result;
}

}  // namespace datum::api
