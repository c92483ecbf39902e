// The main job: a file's bytes go to the device, across it, and back, and every byte is compared.
#pragma once

#include <cstddef>
#include <span>

#include "tools/demo/level_zero_session.hpp"

namespace datum::demo {

/// Prints a line for each step. True when every byte came back.
bool round_trip(const Session& session, std::span<const std::byte> file);

}  // namespace datum::demo
