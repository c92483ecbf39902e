// Counts the system calls of a stretch of a program.
#pragma once

#include <functional>
#include <optional>

namespace datum::bench {

/// Runs a body so that its system calls are counted.
using Counted = std::function<void(const std::function<void()>& body)>;

/// Runs `program` in a forked child, which calls what it is given once; the system calls of that body by the
/// child's first thread. Nothing: the child ended before, or may not be traced. This process has not used
/// Level Zero yet.
[[nodiscard]] std::optional<long> count_system_calls(const std::function<void(const Counted&)>& program);

}  // namespace datum::bench
