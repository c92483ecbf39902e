// Which devices of a context may use memory of one of them.
#pragma once

#include <vector>

#include "driver/object/device.hpp"

namespace datum {

/// Of `devices` those whose commands may use memory of `device`, itself first; all of them where it is null,
/// which is host memory.
[[nodiscard]] inline std::vector<Device*> users_of(const std::vector<Device*>& devices, Device* device) {
  if (device == nullptr) {
    return devices;
  }
  std::vector<Device*> users{device};
  for (Device* other : devices) {
    if (other != device && other->can_access(*device)) {
      users.push_back(other);
    }
  }
  return users;
}

}  // namespace datum
