// The scheme vfio: cards through the kernel.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <datum/board/backend.hpp>

#include "vfio_backend/syscalls.hpp"

namespace datum::vfio {

/// vfio:BDF on the running kernel. `list` takes cards whose ids are known, and those that the variable
/// DATUM_VFIO_IDS names
/// ("10ee:9038,1234:abcd"), so that no foreign device that happens to be bound to vfio-pci is opened unasked.
[[nodiscard]] const board::Backend& backend() noexcept;

/// What the entries of `backend` do, on any kernel. `more_ids` as in DATUM_VFIO_IDS.
[[nodiscard]] std::vector<std::string> list_cards(Syscalls& syscalls, std::string_view more_ids);
[[nodiscard]] Result<std::unique_ptr<board::PcieFunction>> open_card(Syscalls& syscalls,
                                                                     std::string_view address);
[[nodiscard]] std::string diagnose_card(Syscalls& syscalls, std::string_view address);

}  // namespace datum::vfio
