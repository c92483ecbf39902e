// Objects of the API that are counted while they live, and whose end has to succeed.
#pragma once

#include <cstddef>
#include <vector>

#include <level_zero/ze_api.h>

#include "tests/soak/verdict.hpp"
#include "tests/support/api_session.hpp"
#include "tests/support/owned_handle.hpp"

namespace datum::soak {

/// Of an object's end: one less, or a failure of the process.
void note_end(ze_result_t code, const char* what);

template <auto destroy, class Handle>
ze_result_t end_of(Handle handle) {
  const ze_result_t code = destroy(handle);
  note_end(code, "the end of an object");
  return code;
}

using Context = test::Owned<ze_context_handle_t, end_of<zeContextDestroy, ze_context_handle_t>>;
using Queue =
    test::Owned<ze_command_queue_handle_t, end_of<zeCommandQueueDestroy, ze_command_queue_handle_t>>;
using List = test::Owned<ze_command_list_handle_t, end_of<zeCommandListDestroy, ze_command_list_handle_t>>;
using Pool = test::Owned<ze_event_pool_handle_t, end_of<zeEventPoolDestroy, ze_event_pool_handle_t>>;
using OpenedPool =
    test::Owned<ze_event_pool_handle_t, end_of<zeEventPoolCloseIpcHandle, ze_event_pool_handle_t>>;
using Event = test::Owned<ze_event_handle_t, end_of<zeEventDestroy, ze_event_handle_t>>;
using Fence = test::Owned<ze_fence_handle_t, end_of<zeFenceDestroy, ze_fence_handle_t>>;

/// Where a scene plays.
struct Site {
  ze_driver_handle_t driver = nullptr;
  ze_device_handle_t device = nullptr;
  ze_context_handle_t context = nullptr;
};

[[nodiscard]] Context make_context(ze_driver_handle_t driver);
[[nodiscard]] Queue make_queue(const Site& site);
[[nodiscard]] List make_list(const Site& site);
[[nodiscard]] List make_immediate_list(const Site& site, ze_command_queue_mode_t mode);
[[nodiscard]] Pool make_pool(const Site& site, std::uint32_t events, ze_event_pool_flags_t flags);
[[nodiscard]] OpenedPool open_pool(const Site& site, const ze_ipc_event_pool_handle_t& handle);
[[nodiscard]] Event make_event(ze_event_pool_handle_t pool, std::uint32_t index);
[[nodiscard]] Fence make_fence(ze_command_queue_handle_t queue);

/// Memory of a context, or opened in one; or ordinary memory of the process.
class Block {
 public:
  Block() = default;
  /// Allocated.
  Block(const Site& site, test::MemoryKind kind, std::size_t bytes);

  /// Ordinary memory.
  explicit Block(std::size_t bytes) : ordinary_(bytes), bytes_(bytes), host_sees_(true) {}

  /// Opened from another context's or process's handle.
  static Block open(const Site& site, const ze_ipc_mem_handle_t& handle, std::size_t bytes);
  Block(Block&& other) noexcept;
  Block& operator=(Block&& other) noexcept;

  ~Block() { end(); }

  void end();

  [[nodiscard]] unsigned char* data() noexcept {
    return pointer_ != nullptr ? static_cast<unsigned char*>(pointer_) : ordinary_.data();
  }

  [[nodiscard]] std::size_t size() const noexcept { return bytes_; }

  [[nodiscard]] bool host_sees() const noexcept { return host_sees_; }

 private:
  ze_context_handle_t context_ = nullptr;
  void* pointer_ = nullptr;
  std::vector<unsigned char> ordinary_;
  std::size_t bytes_ = 0;
  bool host_sees_ = false;
  bool opened_ = false;
};

}  // namespace datum::soak
