// The first bytes of every handle, through which a loader reaches the driver without translating handles.
#pragma once

#include <level_zero/ze_ddi_common.h>

namespace datum::api {

/// What every object that is given out as a handle begins with, at offset 0 of the address that is the handle
/// (an object with virtual functions begins with something else: put it behind a plain struct). Constant
/// data, valid before any initialisation and until the process ends.
const ze_handle_t& ddi_handle_prefix() noexcept;

/// Whether zeDriverGetProperties may set ZE_DRIVER_DDI_HANDLE_EXT_FLAG_DDI_HANDLE_EXT_SUPPORTED. API 1.13
/// inserted entries in the middle of ze_dditable_driver_t, so an older loader would read the wrong tables.
/// Any thread.
bool ddi_handles_usable() noexcept;

}  // namespace datum::api
