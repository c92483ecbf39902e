// What the program's exit status means; docs/datum-command.md has the same table.
#pragma once

namespace datum::tool {

inline constexpr int exit_well = 0;
inline constexpr int exit_warnings = 1;  ///< doctor alone: it works, with a limit that is told
inline constexpr int exit_failed = 2;    ///< something must be mended, or could not be done
inline constexpr int exit_usage = 64;    ///< the command line was not understood

}  // namespace datum::tool
