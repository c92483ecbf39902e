// What the process holds: descriptors, mappings, resident memory, threads.
#pragma once

#include <cstddef>

namespace datum::test {

[[nodiscard]] std::size_t open_descriptors();
[[nodiscard]] std::size_t memory_mappings();
[[nodiscard]] std::size_t resident_bytes();
/// Those that have not begun to end: a thread that was joined is not counted.
[[nodiscard]] std::size_t thread_count();

}  // namespace datum::test
