// Counter-based events that tests make.
#pragma once

#include <gtest/gtest.h>
#include <level_zero/ze_api.h>

#include "tests/support/api_session.hpp"

namespace datum::test {

[[nodiscard]] inline OwnedEvent create_counter_event(ze_context_handle_t context, ze_device_handle_t device,
                                                     ze_event_counter_based_flags_t flags) {
  ze_event_counter_based_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_EVENT_COUNTER_BASED_DESC;
  desc.flags = flags;
  desc.signal = ZE_EVENT_SCOPE_FLAG_DEVICE;
  desc.wait = ZE_EVENT_SCOPE_FLAG_HOST;
  OwnedEvent event;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventCounterBasedCreate(context, device, &desc, event.address()))
      << last_error_text();
  return event;
}

[[nodiscard]] inline ze_ipc_event_counter_based_handle_t ipc_handle_of(ze_event_handle_t event) {
  ze_ipc_event_counter_based_handle_t handle{};
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventCounterBasedGetIpcHandle(event, &handle)) << last_error_text();
  return handle;
}

}  // namespace datum::test
