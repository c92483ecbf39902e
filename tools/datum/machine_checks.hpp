// What of the machine, apart from the card, a user asks about: huge pages and the ptrace scope.
#pragma once

#include "vfio_backend/doctor.hpp"
#include "vfio_backend/syscalls.hpp"

namespace datum::tool {

/// The checks that follow those of the card (vfio::CheckNumber); the same check always has the same number.
enum class FurtherCheck : unsigned {
  huge_pages = 8,
  loader_finds_driver,
  driver_opens_board,
  plugin_found,
  ptrace_scope,
};

[[nodiscard]] vfio::Check blank_check(FurtherCheck number);

/// Host memory is asked for in huge pages; without them it works, and takes more entries of the IOMMU.
[[nodiscard]] vfio::Check check_huge_pages(vfio::Syscalls& syscalls);

/// Always passes: sharing between processes needs no right to trace them.
[[nodiscard]] vfio::Check check_ptrace_scope(vfio::Syscalls& syscalls);

}  // namespace datum::tool
