// Handles of the API: which are alive, of which kind. A stale, foreign or random handle is an error here and
// never a crash.
#pragma once

#include <cstddef>
#include <cstdint>

#include <level_zero/ze_ddi_common.h>

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
  sysman_memory,
  sysman_errors,
  sysman_engines,
};

/// What a handle points to: the loader reads `ddi` through it (extension ZE_extension_driver_ddi_handles).
/// Slots are never unmapped, so that looking at a stale handle is defined, and a free slot is used again last
/// of all.
struct alignas(64) HandleSlot {
  ze_handle_t ddi{};
  std::uint32_t state = 0;      ///< accessed atomically: ObjectType when alive, 0 when free
  std::uint32_t life = 0;       ///< accessed atomically: process_life() of the process that made it
  void* object = nullptr;       ///< accessed atomically: the C++ object, not owned
  std::uint32_t next_free = 0;  ///< of the table: the slot that was freed next
};

/// What `ddi` of every slot made from now on holds. Before any: null pointers.
void use_handle_prefix(const ze_handle_t& prefix) noexcept;

/// Puts `object` into a slot, whose address is the handle. Begins the process's life if need be.
/// out_of_host_memory when no slot can be had.
Result<HandleSlot*> register_handle(ObjectType type, void* object);
/// The handle is stale from here on. Of several threads that try for one handle one gets true: it may destroy
/// the object. Null: false.
bool unregister_handle(HandleSlot* slot) noexcept;

/// The object, or null when `handle` is not a live handle of `type` in this process. Wait-free; a few
/// nanoseconds.
[[nodiscard]] void* find_object(ObjectType type, const void* handle) noexcept;
/// Whether `handle` is a slot that another process of the chain of forked processes made, this one's parent
/// above all.
[[nodiscard]] bool is_handle_of_other_process(const void* handle) noexcept;
/// How many handles of this process are alive. Looks at every slot: for who asks what was left behind.
[[nodiscard]] std::size_t live_handles() noexcept;

}  // namespace datum
