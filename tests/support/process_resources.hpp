// What the process holds: descriptors, mappings, resident memory, threads.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace datum::test {

/// But for files of /proc, which service threads of the driver open for a moment to see whether the
/// application lives.
[[nodiscard]] std::size_t open_descriptors();
[[nodiscard]] std::size_t memory_mappings();
/// Of files of anonymous memory (memfd_create) whose names begin like that.
[[nodiscard]] std::uint64_t mapped_file_bytes(std::string_view name);
[[nodiscard]] std::size_t resident_bytes();
/// Those that have not begun to end: a thread that was joined is not counted.
[[nodiscard]] std::size_t thread_count();

}  // namespace datum::test
