#include "tools/datum/machine_checks.hpp"

#include <optional>

#include <fmt/format.h>

#include "vfio_backend/sysfs.hpp"

namespace datum::tool {

namespace {

constexpr const char* shared_memory_setting = "/sys/kernel/mm/transparent_hugepage/shmem_enabled";

/// Of "always within_size [advise] never" what is in brackets; empty where nothing is.
std::string chosen_of(const std::string& setting) {
  const std::size_t open = setting.find('[');
  const std::size_t close = setting.find(']', open);
  return open == std::string::npos || close == std::string::npos ? std::string{}
                                                                 : setting.substr(open + 1, close - open - 1);
}

}  // namespace

vfio::Check blank_check(FurtherCheck number) {
  constexpr std::string_view names[] = {"huge pages", "loader finds driver", "driver opens board",
                                        "simulation plugin", "ptrace scope"};
  vfio::Check check;
  check.number = static_cast<unsigned>(number);
  check.name = names[check.number - static_cast<unsigned>(FurtherCheck::huge_pages)];
  return check;
}

vfio::Check check_huge_pages(vfio::Syscalls& syscalls) {
  vfio::Check check = blank_check(FurtherCheck::huge_pages);
  const std::optional<std::string> setting = vfio::read_text(syscalls, shared_memory_setting);
  const std::string chosen = setting ? chosen_of(*setting) : std::string{};
  check.outcome = vfio::CheckOutcome::passed;
  if (!setting) {
    check.finding = "the kernel has no transparent huge pages; host memory comes in small ones, which works";
  } else if (chosen == "never" || chosen == "deny") {
    check.finding = fmt::format(
        "host memory comes in small pages (shmem_enabled is '{}'), which works; huge ones cost the IOMMU "
        "fewer entries: as root, echo advise > {}",
        chosen, shared_memory_setting);
  } else {
    check.finding = fmt::format("host memory may come in huge pages (shmem_enabled is '{}')", chosen);
  }
  return check;
}

vfio::Check check_ptrace_scope(vfio::Syscalls& syscalls) {
  vfio::Check check = blank_check(FurtherCheck::ptrace_scope);
  const std::optional<std::string> scope = vfio::read_text(syscalls, "/proc/sys/kernel/yama/ptrace_scope");
  check.outcome = vfio::CheckOutcome::passed;
  check.finding =
      scope ? fmt::format("kernel.yama.ptrace_scope is {}; it need not be changed, nothing is traced", *scope)
            : std::string("the kernel restricts no tracing, and nothing here needs it");
  return check;
}

}  // namespace datum::tool
