// Initialisation and the objects that nearly every test of the API needs.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <string>
#include <vector>

#include <gtest/gtest.h>
#include <level_zero/ze_api.h>

#include "tests/support/owned_handle.hpp"
#include "tests/support/pattern.hpp"
#include "tests/support/result_text.hpp"
#include "tests/support/test_run.hpp"

namespace datum::test {

/// No wait of a test is longer, so that a lost completion is a failure with a name and not a hang.
inline constexpr std::uint64_t patience_ns = 20'000'000'000;

/// Driver and devices of this process. Initialised at the first call with zeInit(0); `result` is that of the
/// first step that failed.
struct Session {
  ze_result_t result = ZE_RESULT_ERROR_UNINITIALIZED;
  std::vector<ze_driver_handle_t> drivers;
  ze_driver_handle_t driver = nullptr;      ///< the one under test
  std::vector<ze_device_handle_t> devices;  ///< of `driver`
};

[[nodiscard]] const Session& session();

/// The driver's sentence about this thread's last error; empty where the loader is too old to ask.
[[nodiscard]] std::string last_error_text();

[[nodiscard]] OwnedContext create_context(ze_driver_handle_t driver);
[[nodiscard]] OwnedQueue create_queue(ze_context_handle_t context, ze_device_handle_t device,
                                      ze_command_queue_mode_t mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
[[nodiscard]] OwnedList create_list(ze_context_handle_t context, ze_device_handle_t device,
                                    ze_command_list_flags_t flags = 0);
[[nodiscard]] OwnedList create_immediate_list(ze_context_handle_t context, ze_device_handle_t device,
                                              ze_command_queue_mode_t mode,
                                              ze_command_queue_flags_t flags = 0);
[[nodiscard]] OwnedEventPool create_event_pool(ze_context_handle_t context, std::uint32_t count,
                                               ze_event_pool_flags_t flags = ZE_EVENT_POOL_FLAG_HOST_VISIBLE);
[[nodiscard]] OwnedEvent create_event(ze_event_pool_handle_t pool, std::uint32_t index = 0);
[[nodiscard]] OwnedFence create_fence(ze_command_queue_handle_t queue, ze_fence_flags_t flags = 0);

/// Where memory can live, as the tests choose among it.
enum class MemoryKind { device, onchip, host, shared, shared_without_device };
inline constexpr MemoryKind all_memory_kinds[] = {MemoryKind::device, MemoryKind::onchip, MemoryKind::host,
                                                  MemoryKind::shared, MemoryKind::shared_without_device};
[[nodiscard]] const char* name_of(MemoryKind kind);
[[nodiscard]] ze_memory_type_t type_of(MemoryKind kind);
/// The CPU can read and write it.
[[nodiscard]] bool host_accessible(MemoryKind kind);
/// The bare call, for tests of its answer.
ze_result_t allocate_raw(MemoryKind kind, ze_context_handle_t context, ze_device_handle_t device,
                         std::size_t bytes, std::size_t alignment, void** pointer);
[[nodiscard]] OwnedMemory allocate(MemoryKind kind, ze_context_handle_t context, ze_device_handle_t device,
                                   std::size_t bytes, std::size_t alignment = 0);

/// A test with a context and a queue of its own on the first device.
class ApiTest : public ::testing::Test {
 protected:
  void SetUp() override;
  void TearDown() override;

  [[nodiscard]] ze_driver_handle_t driver() const { return session().driver; }

  [[nodiscard]] ze_device_handle_t device() const { return session().devices.front(); }

  [[nodiscard]] ze_context_handle_t context() const { return context_.get(); }

  [[nodiscard]] ze_command_queue_handle_t queue();

  [[nodiscard]] OwnedMemory memory(MemoryKind kind, std::size_t bytes, std::size_t alignment = 0) const {
    return allocate(kind, context(), device(), bytes, alignment);
  }

  using Appends = std::function<void(ze_command_list_handle_t)>;
  /// Records what `appends` appends into a list, runs it on queue() and waits for it. The first code that is
  /// not SUCCESS.
  ze_result_t run(const Appends& appends);
  /// Executes a closed list on queue() and waits.
  ze_result_t execute_and_wait(ze_command_list_handle_t list);

  /// One copy by the board, waited for.
  ze_result_t copy(void* to, const void* from, std::size_t bytes);
  /// The first code that is not SUCCESS of append, close, execute and wait of one copy.
  ze_result_t copy_code(void* to, const void* from, std::size_t bytes);
  /// Puts bytes into memory of any kind, and gets them back, by the board and through host memory of Datum's
  /// own.
  void upload(void* to, const Bytes& bytes);
  [[nodiscard]] Bytes download(const void* from, std::size_t bytes);

  OwnedContext context_;
  OwnedQueue queue_;
  std::size_t descriptors_at_start_ = 0;
};

}  // namespace datum::test
