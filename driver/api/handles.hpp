// From a handle of the API to the object behind it.
#pragma once

#include <string_view>

#include "driver/api/result.hpp"
#include "driver/object/handle_table.hpp"

namespace datum {
class CommandList;
class CommandQueue;
class Context;
class Device;
class Driver;
class Event;
class EventPool;
class Fence;
class Image;
class PhysicalMemory;
}  // namespace datum

namespace datum::api {

template <class Object>
inline constexpr ObjectType object_type = ObjectType::none;
template <>
inline constexpr ObjectType object_type<Driver> = ObjectType::driver;
template <>
inline constexpr ObjectType object_type<Device> = ObjectType::device;
template <>
inline constexpr ObjectType object_type<Context> = ObjectType::context;
template <>
inline constexpr ObjectType object_type<CommandQueue> = ObjectType::command_queue;
template <>
inline constexpr ObjectType object_type<CommandList> = ObjectType::command_list;
template <>
inline constexpr ObjectType object_type<EventPool> = ObjectType::event_pool;
template <>
inline constexpr ObjectType object_type<Event> = ObjectType::event;
template <>
inline constexpr ObjectType object_type<Fence> = ObjectType::fence;
template <>
inline constexpr ObjectType object_type<PhysicalMemory> = ObjectType::physical_memory;
template <>
inline constexpr ObjectType object_type<Image> = ObjectType::image;

/// The live object, or null.
template <class Object>
[[nodiscard]] Object* find(const void* handle) noexcept {
  static_assert(object_type<Object> != ObjectType::none, "a type that has no handles");
  return static_cast<Object*>(find_object(object_type<Object>, handle));
}

/// What a handle gets that `find` did not know: UNINITIALIZED for one of a parent process, else
/// INVALID_NULL_HANDLE. `name` is the argument's.
ze_result_t refuse_handle(const void* handle, std::string_view name) noexcept;
/// UNSUPPORTED_FEATURE, of functions that name it for structures on pNext that the driver does not know.
ze_result_t refuse_extension() noexcept;
/// INVALID_ARGUMENT, of a call whose device is none of its context's.
ze_result_t refuse_foreign_device() noexcept;
/// SUCCESS, or what refuse_foreign_device says.
ze_result_t check_membership(const Context& context, const Device& device) noexcept;
/// SUCCESS, or DEVICE_LOST of a context whose board is lost or was reset under it: nothing can be made there.
ze_result_t check_alive(Context& context) noexcept;
/// INVALID_NULL_POINTER with the argument's name.
ze_result_t refuse_null_pointer(std::string_view name) noexcept;

}  // namespace datum::api
