// What lists and events of this driver can do beyond the plain ones: told in properties, checked in calls.
#pragma once

#include <level_zero/ze_api.h>

namespace datum::api {

/// Changes to recorded commands: their events.
inline constexpr ze_mutable_command_exp_flags_t mutable_command_flags =
    ZE_MUTABLE_COMMAND_EXP_FLAG_SIGNAL_EVENT | ZE_MUTABLE_COMMAND_EXP_FLAG_WAIT_EVENTS;

/// Times of events, in the board's clock and in the host's.
inline constexpr ze_event_query_kernel_timestamps_ext_flags_t timestamp_query_flags =
    ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_KERNEL | ZE_EVENT_QUERY_KERNEL_TIMESTAMPS_EXT_FLAG_SYNCHRONIZED;

/// Of counter-based events no counters that the application keeps: the board has no atomic addition, and the
/// host must be able to read a word that it waits for.
inline constexpr ze_device_event_properties_flags_t counter_based_extras =
    ZE_DEVICE_EVENT_PROPERTIES_FLAG_COUNTER_BASED_IPC;

}  // namespace datum::api
