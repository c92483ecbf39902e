// Why a card cannot be opened, as data: numbered checks, each with what was found and the cure.
#pragma once

#include <cstdint>
#include <string>
#include <string_view>
#include <vector>

#include "vfio_backend/card_address.hpp"
#include "vfio_backend/syscalls.hpp"

namespace datum::vfio {

enum class CheckOutcome : std::uint8_t {
  passed,
  warning,  ///< works, with a limit that is told
  failed,
  skipped,  ///< an earlier failure leaves nothing to look at
};

struct Check {
  unsigned number = 0;  ///< 1, 2, ...; the same check always has the same number
  std::string_view name;
  CheckOutcome outcome = CheckOutcome::skipped;
  std::string finding;  ///< a sentence
  std::string cure;     ///< empty: nothing to do
};

/// The numbers of the checks.
enum class CheckNumber : std::uint8_t {
  card_found = 1,
  driver_bound,
  group_viable,
  permission,
  iommu_on,
  locked_memory,
  kernel_interface,
};

/// Makes all checks, in order of their numbers. Opens device nodes and closes them at once; changes nothing.
[[nodiscard]] std::vector<Check> examine_card(Syscalls& syscalls, const CardAddress& address);

}  // namespace datum::vfio
