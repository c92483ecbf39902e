// Checks what queues and immediate lists are created with.
#pragma once

#include <level_zero/ze_api.h>

#include "driver/command/queue_settings.hpp"

namespace datum {
class Device;
}

namespace datum::api {

/// SUCCESS and `settings`, or the code for what is wrong with `desc` (not null).
ze_result_t check_queue_descriptor(Device& device, const ze_command_queue_desc_t& desc,
                                   QueueSettings& settings);

}  // namespace datum::api
