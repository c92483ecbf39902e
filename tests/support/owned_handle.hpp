// Owners for the objects of the API: destroyed once, at the end of the scope.
#pragma once

#include <utility>

#include <level_zero/ze_api.h>

namespace datum::test {

/// Movable owner of one handle. Empty ones destroy nothing.
template <class Handle, ze_result_t (*destroy_handle)(Handle)>
class Owned {
 public:
  Owned() = default;

  explicit Owned(Handle handle) : handle_(handle) {}

  Owned(Owned&& other) noexcept : handle_(std::exchange(other.handle_, nullptr)) {}

  Owned& operator=(Owned&& other) noexcept {
    if (this != &other) {
      destroy();
      handle_ = std::exchange(other.handle_, nullptr);
    }
    return *this;
  }

  ~Owned() { destroy(); }

  [[nodiscard]] Handle get() const { return handle_; }

  operator Handle() const {
    return handle_;
  }  // NOLINT(google-explicit-constructor): stands for the handle in calls

  [[nodiscard]] Handle* address() { return &handle_; }

  [[nodiscard]] Handle release() { return std::exchange(handle_, nullptr); }

  /// What the destroying function answered; SUCCESS for an empty owner.
  ze_result_t destroy() {
    Handle handle = std::exchange(handle_, nullptr);
    return handle != nullptr ? destroy_handle(handle) : ZE_RESULT_SUCCESS;
  }

 private:
  Handle handle_ = nullptr;
};

using OwnedContext = Owned<ze_context_handle_t, zeContextDestroy>;
using OwnedQueue = Owned<ze_command_queue_handle_t, zeCommandQueueDestroy>;
using OwnedList = Owned<ze_command_list_handle_t, zeCommandListDestroy>;
using OwnedEventPool = Owned<ze_event_pool_handle_t, zeEventPoolDestroy>;
using OwnedEvent = Owned<ze_event_handle_t, zeEventDestroy>;
using OwnedFence = Owned<ze_fence_handle_t, zeFenceDestroy>;

/// Owner of one allocation of a context.
class OwnedMemory {
 public:
  OwnedMemory() = default;

  OwnedMemory(ze_context_handle_t context, void* pointer) : context_(context), pointer_(pointer) {}

  OwnedMemory(OwnedMemory&& other) noexcept
      : context_(other.context_), pointer_(std::exchange(other.pointer_, nullptr)) {}

  OwnedMemory& operator=(OwnedMemory&& other) noexcept {
    if (this != &other) {
      free();
      context_ = other.context_;
      pointer_ = std::exchange(other.pointer_, nullptr);
    }
    return *this;
  }

  ~OwnedMemory() { free(); }

  [[nodiscard]] void* get() const { return pointer_; }

  [[nodiscard]] unsigned char* bytes() const { return static_cast<unsigned char*>(pointer_); }

  [[nodiscard]] void* release() { return std::exchange(pointer_, nullptr); }

  /// What zeMemFree answered; SUCCESS for an empty owner.
  ze_result_t free() {
    void* pointer = std::exchange(pointer_, nullptr);
    return pointer != nullptr ? zeMemFree(context_, pointer) : ZE_RESULT_SUCCESS;
  }

 private:
  ze_context_handle_t context_ = nullptr;
  void* pointer_ = nullptr;
};

}  // namespace datum::test
