// Copies one of the driver's tables to a loader that may be older or newer than the driver.
#pragma once

#include <atomic>

#include <level_zero/ze_ddi_common.h>

#include "driver/api/tables/loader_version.hpp"

namespace datum::api {

/// One entry of a table, and the version of the API whose tables first had it.
template <auto Member, ze_api_version_t Since>
struct Slot {
  template <class Table>
  static void copy(ze_api_version_t version, Table& destination, const Table& source) noexcept {
    if (version >= Since) {
      // Threads that initialise the loader at the same time fill the same table.
      std::atomic_ref(destination.*Member).store(source.*Member, std::memory_order_relaxed);
    }
  }
};

/// Copies the entries that a loader of `version` knows: its struct ends before the others. Every minor
/// version is accepted, newer ones too, since a loader gives up the whole driver when one table is refused.
/// May be called again and by several threads at once, before any initialisation.
///
/// SUCCESS; INVALID_NULL_POINTER without a destination; UNSUPPORTED_VERSION for another major version.
template <class... Slots, class Table>
ze_result_t copy_table(ze_api_version_t version, Table* destination, const Table& source) noexcept {
  if (destination == nullptr) {
    return ZE_RESULT_ERROR_INVALID_NULL_POINTER;
  }
  if (ZE_MAJOR_VERSION(version) != 1) {
    return ZE_RESULT_ERROR_UNSUPPORTED_VERSION;
  }
  note_loader_version(version);
  (Slots::copy(version, *destination, source), ...);
  return ZE_RESULT_SUCCESS;
}

}  // namespace datum::api
