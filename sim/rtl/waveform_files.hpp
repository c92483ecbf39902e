// The names of a waveform's files.
#pragma once

#include <cstdint>
#include <string>

namespace datum::sim {

/// The file that holds what went before `file`, where a waveform keeps the last cycles: run.before.fst.
[[nodiscard]] std::string file_before(const std::string& file);

/// The file of a further window, which counts from 2: run.2.fst. That of the first is `file`.
[[nodiscard]] std::string file_of_window(const std::string& file, std::uint64_t window);

/// The file of a board that came back from a loss, which counts from 2: run.life2.fst. It has windows, too.
[[nodiscard]] std::string file_of_life(const std::string& file, std::uint64_t life);

/// Removes what an earlier run left under these names beside `file`, and `file` not: old windows would look
/// like new ones. A file that is no waveform stays.
void remove_earlier_files(const std::string& file);

}  // namespace datum::sim
