// `datum doctor`: numbered checks from the card to the Level Zero program, each with its cure.
#pragma once

#include <string>
#include <vector>

#include "vfio_backend/doctor.hpp"
#include "vfio_backend/syscalls.hpp"

namespace datum::tool {

/// The checks of the card that `board` names. A board that is no card has no use for them: each is skipped.
[[nodiscard]] std::vector<vfio::Check> check_card(vfio::Syscalls& syscalls, const std::string& board);

/// exit_well, exit_warnings or exit_failed, by the worst outcome.
[[nodiscard]] int status_of(const std::vector<vfio::Check>& checks);

[[nodiscard]] std::string report_text(const std::vector<vfio::Check>& checks);
[[nodiscard]] std::string report_json(const std::string& board, const std::vector<vfio::Check>& checks);

/// Makes all checks of `board` (empty: that of DATUM_BOARDS, or the first card that is bound), prints them
/// and returns the exit status.
int examine(vfio::Syscalls& syscalls, const std::string& board, bool json);

}  // namespace datum::tool
