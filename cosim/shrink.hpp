// The shortest program that still fails.
#pragma once

#include <functional>

#include "cosim/program.hpp"

namespace datum::cosim {

/// Whether a program fails; called for shorter ones of the same seed.
using Fails = std::function<bool(const Program&)>;

/// The first operations of the program, as few as fail. `program` fails. It can be named by seed and count.
[[nodiscard]] unsigned shortest_beginning(const Program& program, const Fails& fails);

/// Takes operations away, one after the other, as long as the rest fails and stays ordered. `program` fails.
[[nodiscard]] Program shrink(const Program& program, const Fails& fails);

}  // namespace datum::cosim
