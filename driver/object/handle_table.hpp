// Handles of the API: which are alive, of which kind. A stale, foreign or random handle is an error here and never a crash.
#pragma once

#include <cstdint>

#include <ze_api.h>
#include <ze_ddi_common.h>

#include <datum/base/result.hpp>

namespace datum {

enum class ObjectType : std::uint32_t {
  none = 0,
  driver = 1,
  device,
  context,
  command_queue,
  command_list,
  event_pool,
  event,
  fence,
  physical_memory,
  image,
  sysman_driver,
  sysman_device,
  sysman_memory,
};

/// First member of every object that has a handle: the loader reads `ddi` through the handle (extension ZE_extension_driver_ddi_handles).
/// Lives in slots that are never unmapped, so that looking at a stale handle is defined; slots are reused last of all.
struct HandleSlot {
  ze_handle_t ddi{};
  std::uint32_t state = 0;  ///< accessed atomically: ObjectType when alive, 0 when free
  std::uint32_t generation = 0;
  void* object = nullptr;   ///< the C++ object, not owned
};

/// Puts `object` into a slot and returns the handle. out_of_host_memory when no slot can be had.
Result<HandleSlot*> register_handle(ObjectType type, void* object);
/// The slot's handle is stale from here on.
void unregister_handle(HandleSlot* slot);
/// The object, or null when `handle` is not a live handle of `type`. Wait-free; a few nanoseconds.
[[nodiscard]] void* find_object(ObjectType type, const void* handle) noexcept;

}  // namespace datum
