// Chapter "command list": commands on memory.
#include <bit>
#include <cstring>

#include <fmt/format.h>

#include "driver/api/handles.hpp"
#include "driver/api/known_range.hpp"
#include "driver/api/synchronization.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/command/command_list.hpp"
#include "driver/command/queue_group.hpp"
#include "driver/memory/registry.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum::api {

namespace {

/// One side of zeCommandListAppendMemoryCopyRegion.
struct RegionSide {
  const void* pointer;
  const ze_copy_region_t* region;
  std::uint32_t pitch;
  std::uint32_t slice_pitch;
};

/// Address of the region's first byte; false: it has none.
bool first_byte(const RegionSide& side, std::uint64_t& address) {
  std::uint64_t rows = std::uint64_t{side.region->originY} * side.pitch;
  const std::uint64_t planes = std::uint64_t{side.region->originZ} * side.slice_pitch;
  address = reinterpret_cast<std::uintptr_t>(side.pointer);
  return !__builtin_add_overflow(rows, planes, &rows) &&
         !__builtin_add_overflow(rows, side.region->originX, &rows) &&
         !__builtin_add_overflow(address, rows, &address);
}

ze_result_t check_pitches(const RegionShape& shape, const Pitches& pitches, const char* side) {
  if (shape.rows > 1 && pitches.row < shape.row_bytes) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, fmt::format("{} pitch {} is less than a row of {} bytes",
                                                                side, pitches.row, shape.row_bytes));
  }
  if (shape.planes > 1 && pitches.plane < (shape.rows - 1) * pitches.row + shape.row_bytes) {
    return refuse(
        ZE_RESULT_ERROR_INVALID_ARGUMENT,
        fmt::format("{} slice pitch {} is less than a slice of {} rows", side, pitches.plane, shape.rows));
  }
  return ZE_RESULT_SUCCESS;
}

/// `command` from the two sides, which are not null.
ze_result_t make_region_copy(CommandList& list, const RegionSide& dst, const RegionSide& src,
                             CopyCommand& command) {
  if (dst.region->width != src.region->width || dst.region->height != src.region->height ||
      dst.region->depth != src.region->depth) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT,
                  "source and destination regions differ in width, height or depth");
  }
  // The depth of a two-dimensional copy is 0.
  command.shape = {dst.region->width, dst.region->height, std::max(dst.region->depth, 1U)};
  command.dst_pitches = {dst.pitch, dst.slice_pitch};
  command.src_pitches = {src.pitch, src.slice_pitch};
  std::uint64_t to = 0;
  std::uint64_t from = 0;
  if (!first_byte(dst, to) || !first_byte(src, from)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "a region begins behind the end of the address space");
  }
  command.dst = reinterpret_cast<void*>(to);
  command.src = reinterpret_cast<const void*>(from);
  if (command.shape.empty()) {
    return ZE_RESULT_SUCCESS;
  }
  for (const auto& [pitches, name] :
       {std::pair{&command.dst_pitches, "destination"}, std::pair{&command.src_pitches, "source"}}) {
    if (const ze_result_t fit = check_pitches(command.shape, *pitches, name); fit != ZE_RESULT_SUCCESS) {
      return fit;
    }
  }
  for (const auto& [pointer, pitches] :
       {std::pair{static_cast<const void*>(command.dst), &command.dst_pitches},
        std::pair{command.src, &command.src_pitches}}) {
    if (const Status known = check_known_range(list, pointer, extent_bytes(command.shape, *pitches));
        !known) {
      return answer(known);
    }
  }
  if (regions_overlap(command.shape, to, command.dst_pitches, from, command.src_pitches)) {
    return refuse(ZE_RESULT_ERROR_OVERLAPPING_REGIONS, "source and destination regions share bytes");
  }
  return ZE_RESULT_SUCCESS;
}

ze_result_t append_copy(CommandList& list, Context* src_context, void* dstptr, const void* srcptr,
                        size_t size, const Synchronization& events) {
  if (const Status known = check_known_range(list, dstptr, size); !known) {
    return answer(known);
  }
  if (const Status known =
          check_known_range(src_context != nullptr ? *src_context : list.context(), srcptr, size);
      !known) {
    return answer(known);
  }
  CopyCommand command;
  command.dst = dstptr;
  command.src = srcptr;
  command.shape.row_bytes = size;
  command.src_context = src_context;
  command.src_context_handle = src_context != nullptr ? src_context->handle() : nullptr;
  return answer(list.append(command, events.signal(), events.waits()));
}

}  // namespace

Status check_known_range(Context& context, const void* pointer, std::uint64_t bytes) {
  const auto address = reinterpret_cast<std::uintptr_t>(pointer);
  if (address + bytes < address) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} bytes from {} leave the address space", bytes, fmt::ptr(pointer)));
  }
  const std::optional<Allocation> allocation = context.driver().registry().find(address);
  if (!allocation || allocation->kind == AllocationKind::virtual_reservation) {
    return {};
  }
  const bool within_reach = context.driver().attitude() == Attitude::gpu;  // Context::reaching
  if (allocation->context != &context && !within_reach) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} belongs to an allocation of another context", fmt::ptr(pointer)));
  }
  const std::uint64_t offset = address - allocation->base;
  // Imported memory is the application's own, and so may be what is behind it.
  const bool ordinary_behind = allocation->kind == AllocationKind::host_imported;
  if (!ordinary_behind && (offset > allocation->size_bytes || bytes > allocation->size_bytes - offset)) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} bytes at offset {} leave an allocation of {} bytes", bytes, offset,
                                  allocation->size_bytes));
  }
  return {};
}

Status check_known_range(CommandList& list, const void* pointer, std::uint64_t bytes) {
  return check_known_range(list.context(), pointer, bytes);
}

ze_result_t zeCommandListAppendMemoryCopy(ze_command_list_handle_t hCommandList, void* dstptr,
                                          const void* srcptr, size_t size, ze_event_handle_t hSignalEvent,
                                          uint32_t numWaitEvents, ze_event_handle_t* phWaitEvents) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  if (dstptr == nullptr) {
    return refuse_null_pointer("dstptr");
  }
  if (srcptr == nullptr) {
    return refuse_null_pointer("srcptr");
  }
  Synchronization events;
  if (const ze_result_t found = events.resolve(*list, hSignalEvent, numWaitEvents, phWaitEvents);
      found != ZE_RESULT_SUCCESS) {
    return found;
  }
  return append_copy(*list, nullptr, dstptr, srcptr, size, events);
}

ze_result_t zeCommandListAppendMemoryCopyWithParameters(ze_command_list_handle_t hCommandList, void* dstptr,
                                                        const void* srcptr, size_t size, const void* pNext,
                                                        ze_event_handle_t hSignalEvent,
                                                        uint32_t numWaitEvents,
                                                        ze_event_handle_t* phWaitEvents) {
  if (find<CommandList>(hCommandList) != nullptr && pNext != nullptr) {
    return refuse_extension();
  }
  return api::zeCommandListAppendMemoryCopy(hCommandList, dstptr, srcptr, size, hSignalEvent, numWaitEvents,
                                            phWaitEvents);
}

ze_result_t zeCommandListAppendMemoryCopyFromContext(ze_command_list_handle_t hCommandList, void* dstptr,
                                                     ze_context_handle_t hContextSrc, const void* srcptr,
                                                     size_t size, ze_event_handle_t hSignalEvent,
                                                     uint32_t numWaitEvents,
                                                     ze_event_handle_t* phWaitEvents) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  auto* context = find<Context>(hContextSrc);
  if (context == nullptr) {
    return refuse_handle(hContextSrc, "hContextSrc");
  }
  if (dstptr == nullptr) {
    return refuse_null_pointer("dstptr");
  }
  if (srcptr == nullptr) {
    return refuse_null_pointer("srcptr");
  }
  Synchronization events;
  if (const ze_result_t found = events.resolve(*list, hSignalEvent, numWaitEvents, phWaitEvents);
      found != ZE_RESULT_SUCCESS) {
    return found;
  }
  if (!context->has(list->device())) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the source's context does not have the list's device");
  }
  return append_copy(*list, context == &list->context() ? nullptr : context, dstptr, srcptr, size, events);
}

ze_result_t zeCommandListAppendMemoryFill(ze_command_list_handle_t hCommandList, void* ptr,
                                          const void* pattern, size_t pattern_size, size_t size,
                                          ze_event_handle_t hSignalEvent, uint32_t numWaitEvents,
                                          ze_event_handle_t* phWaitEvents) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  if (ptr == nullptr) {
    return refuse_null_pointer("ptr");
  }
  if (pattern == nullptr) {
    return refuse_null_pointer("pattern");
  }
  if (!std::has_single_bit(pattern_size) || pattern_size > max_fill_pattern_bytes) {
    return refuse(ZE_RESULT_ERROR_INVALID_SIZE,
                  fmt::format("a pattern of {} bytes; it must be a power of two up to {}", pattern_size,
                              max_fill_pattern_bytes));
  }
  if (size % pattern_size != 0) {
    return refuse(ZE_RESULT_ERROR_INVALID_SIZE,
                  fmt::format("{} bytes are no multiple of the pattern's {}", size, pattern_size));
  }
  if (reinterpret_cast<std::uintptr_t>(ptr) % pattern_size != 0) {
    return refuse(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                  fmt::format("ptr is not aligned to the pattern's {} bytes", pattern_size));
  }
  Synchronization events;
  if (const ze_result_t found = events.resolve(*list, hSignalEvent, numWaitEvents, phWaitEvents);
      found != ZE_RESULT_SUCCESS) {
    return found;
  }
  if (const Status known = check_known_range(*list, ptr, size); !known) {
    return answer(known);
  }
  FillCommand command;
  command.dst = ptr;
  command.bytes = size;
  command.pattern_log2 = static_cast<std::uint8_t>(std::countr_zero(pattern_size));
  std::memcpy(command.pattern.data(), pattern, pattern_size);
  return answer(list->append(command, events.signal(), events.waits()));
}

ze_result_t zeCommandListAppendMemoryFillWithParameters(ze_command_list_handle_t hCommandList, void* ptr,
                                                        const void* pattern, size_t pattern_size, size_t size,
                                                        const void* pNext, ze_event_handle_t hSignalEvent,
                                                        uint32_t numWaitEvents,
                                                        ze_event_handle_t* phWaitEvents) {
  if (find<CommandList>(hCommandList) != nullptr && pNext != nullptr) {
    return refuse_extension();
  }
  return api::zeCommandListAppendMemoryFill(hCommandList, ptr, pattern, pattern_size, size, hSignalEvent,
                                            numWaitEvents, phWaitEvents);
}

ze_result_t zeCommandListAppendMemoryCopyRegion(ze_command_list_handle_t hCommandList, void* dstptr,
                                                const ze_copy_region_t* dstRegion, uint32_t dstPitch,
                                                uint32_t dstSlicePitch, const void* srcptr,
                                                const ze_copy_region_t* srcRegion, uint32_t srcPitch,
                                                uint32_t srcSlicePitch, ze_event_handle_t hSignalEvent,
                                                uint32_t numWaitEvents, ze_event_handle_t* phWaitEvents) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  if (dstptr == nullptr) {
    return refuse_null_pointer("dstptr");
  }
  if (dstRegion == nullptr) {
    return refuse_null_pointer("dstRegion");
  }
  if (srcptr == nullptr) {
    return refuse_null_pointer("srcptr");
  }
  if (srcRegion == nullptr) {
    return refuse_null_pointer("srcRegion");
  }
  Synchronization events;
  if (const ze_result_t found = events.resolve(*list, hSignalEvent, numWaitEvents, phWaitEvents);
      found != ZE_RESULT_SUCCESS) {
    return found;
  }
  CopyCommand command;
  const RegionSide dst{dstptr, dstRegion, dstPitch, dstSlicePitch};
  const RegionSide src{srcptr, srcRegion, srcPitch, srcSlicePitch};
  if (const ze_result_t made = make_region_copy(*list, dst, src, command); made != ZE_RESULT_SUCCESS) {
    return made;
  }
  return answer(list->append(command, events.signal(), events.waits()));
}

ze_result_t zeCommandListAppendMemoryPrefetch(ze_command_list_handle_t hCommandList, const void* ptr,
                                              size_t size) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  if (ptr == nullptr) {
    return refuse_null_pointer("ptr");
  }
  if (const Status known = check_known_range(*list, ptr, size); !known) {
    return answer(known);
  }
  // A hint: shared memory of this driver stays where it is.
  return answer(list->append(SynchronizeCommand{}, nullptr, {}));
}

ze_result_t zeCommandListAppendMemAdvise(ze_command_list_handle_t hCommandList, ze_device_handle_t hDevice,
                                         const void* ptr, size_t size, ze_memory_advice_t advice) {
  auto* list = find<CommandList>(hCommandList);
  if (list == nullptr) {
    return refuse_handle(hCommandList, "hCommandList");
  }
  auto* device = find<Device>(hDevice);
  if (device == nullptr) {
    return refuse_handle(hDevice, "hDevice");
  }
  if (ptr == nullptr) {
    return refuse_null_pointer("ptr");
  }
  if (advice > ZE_MEMORY_ADVICE_CLEAR_SYSTEM_MEMORY_PREFERRED_LOCATION) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION,
                  fmt::format("unknown advice {}", static_cast<unsigned>(advice)));
  }
  if (!list->context().has(*device)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ARGUMENT, "the device is not one of the list's context");
  }
  if (const Status known = check_known_range(*list, ptr, size); !known) {
    return answer(known);
  }
  return answer(list->append(SynchronizeCommand{}, nullptr, {}));
}

}  // namespace datum::api
