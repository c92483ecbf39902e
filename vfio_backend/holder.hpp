// Who has a device node open.
#pragma once

#include <string>

#include "vfio_backend/syscalls.hpp"

namespace datum::vfio {

/// "this process", "process 4711 (python3)", or words for one that cannot be seen. For the middle of a
/// sentence.
[[nodiscard]] std::string describe_holder(Syscalls& syscalls, const std::string& node);

}  // namespace datum::vfio
