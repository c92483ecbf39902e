// Walks the pNext chain of a structure of the API.
#pragma once

#include <level_zero/ze_api.h>

namespace datum::api {

/// Calls `visit(stype, structure)` for each structure of the chain that begins at `first` (null: none), until
/// visit returns something else than SUCCESS, which is then returned. A chain that leads back into itself
/// ends where it would repeat; each of its members is visited once. Structures that visit does not know are
/// its business to ignore.
template <class Visit>
ze_result_t for_each_extension(const void* first, Visit&& visit) {
  // Brent's cycle detection: `marker` stays, and is moved up each time the walk has doubled in length.
  const auto next_of = [](const ze_base_desc_t* node) {
    return static_cast<const ze_base_desc_t*>(node->pNext);
  };
  const auto* start = static_cast<const ze_base_desc_t*>(first);
  unsigned long length = 0;
  const ze_base_desc_t* marker = start;
  unsigned long since_marker = 0;
  unsigned long limit = 1;
  bool cyclic = false;
  for (const ze_base_desc_t* node = start; node != nullptr; node = next_of(node)) {
    if (length != 0 && node == marker) {
      cyclic = true;
      break;
    }
    ++length;
    if (++since_marker == limit) {
      marker = node;
      since_marker = 0;
      limit *= 2;
    }
  }
  if (cyclic) {
    length = since_marker + 1;  // of the cycle
    const ze_base_desc_t* ahead = start;
    for (unsigned long step = 0; step < length; ++step) {
      ahead = next_of(ahead);
    }
    unsigned long lead_in = 0;
    for (const ze_base_desc_t* behind = start; behind != ahead;
         behind = next_of(behind), ahead = next_of(ahead)) {
      ++lead_in;
    }
    length += lead_in;
  }
  const ze_base_desc_t* node = start;
  for (unsigned long step = 0; step < length; ++step, node = next_of(node)) {
    const ze_result_t result = visit(node->stype, static_cast<const void*>(node));
    if (result != ZE_RESULT_SUCCESS) {
      return result;
    }
  }
  return ZE_RESULT_SUCCESS;
}

/// The same for chains of output structures, which the visitor writes to.
template <class Visit>
ze_result_t for_each_output_extension(void* first, Visit&& visit) {
  return for_each_extension(first, [&](ze_structure_type_t stype, const void* structure) {
    return visit(stype, const_cast<void*>(structure));
  });
}

}  // namespace datum::api
