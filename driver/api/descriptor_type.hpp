// Whether a descriptor is what it should be.
#pragma once

#include <level_zero/ze_api.h>

#include "driver/object/attitude.hpp"

namespace datum::api {

/// `given` is the structure's stype. Middleware for GPUs passes descriptors that are all zeros, the stype
/// included, and gets away with it elsewhere: in that attitude 0, which is no descriptor's type, is taken for
/// the one that is wanted.
[[nodiscard]] inline bool is_descriptor(ze_structure_type_t given, ze_structure_type_t wanted) noexcept {
  return given == wanted || (given == 0 && attitude() == Attitude::gpu);
}

}  // namespace datum::api
