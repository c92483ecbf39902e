// A driver over a board that may fail, and objects of each kind for the calls that need some.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>

#include "tests/fakes/fault_function.hpp"
#include "tests/support/own_driver.hpp"

namespace datum::test {

/// What a call must not leave behind.
struct Footprint {
  std::size_t descriptors = 0;
  std::size_t threads = 0;
  std::uint64_t device_bytes = 0;  ///< that can be had, the board asked for what it had seen
  std::size_t handles = 0;         ///< that are alive
  std::uint64_t board_bytes = 0;   ///< that are mapped for the board
  std::uint64_t file_bytes = 0;    ///< of the driver's memory files that are mapped here

  friend bool operator==(const Footprint&, const Footprint&) = default;
};

struct World {
  static constexpr std::size_t bytes = 64U << 10U;

  World();
  ~World();
  World(const World&) = delete;
  World& operator=(const World&) = delete;

  [[nodiscard]] Footprint footprint();
  /// After a reset of the board, which ends what was made before it.
  void make_anew();

  [[nodiscard]] ze_device_handle_t device() const { return driver->device(); }

  const ApiTables& api = api_tables();
  FaultFunction* faults = nullptr;
  std::optional<OwnDriver> driver;
  ze_context_handle_t context = nullptr;
  ze_context_handle_t other_context = nullptr;
  ze_command_queue_handle_t queue = nullptr;
  ze_command_list_handle_t immediate = nullptr;
  ze_command_list_handle_t list = nullptr;  ///< empty and open
  ze_event_pool_handle_t pool = nullptr;
  ze_event_handle_t event = nullptr;
  ze_fence_handle_t fence = nullptr;
  void* on_device = nullptr;
  void* on_host = nullptr;
  alignas(4096) std::byte ordinary[bytes] = {};

  // Of the call at hand, between its preparation and its end.
  void* memory = nullptr;
  void* opened = nullptr;
  ze_ipc_mem_handle_t handle{};
  ze_ipc_event_pool_handle_t pool_handle{};
  ze_ipc_event_counter_based_handle_t counter_handle{};
  ze_context_handle_t made_context = nullptr;
  ze_command_queue_handle_t made_queue = nullptr;
  ze_command_list_handle_t made_list = nullptr;
  ze_event_pool_handle_t made_pool = nullptr;
  ze_event_handle_t made_event = nullptr;
  ze_event_handle_t opened_event = nullptr;
  ze_fence_handle_t made_fence = nullptr;
  ze_image_handle_t made_image = nullptr;
  ze_image_handle_t other_image = nullptr;
  ze_physical_mem_handle_t physical = nullptr;
  void* reserved = nullptr;
  std::uint64_t number = 0;  ///< a descriptor, or of a command

 private:
  void make();
  void end();
};

/// SUCCESS, or the test fails with what the driver said.
void must(World& world, ze_result_t code, const char* what);

}  // namespace datum::test
