#include "driver/memory/spare_mappings.hpp"

#include <sys/mman.h>

#include <datum/base/address.hpp>

namespace datum {
namespace {

// Every second page of the area is a mapping of its own, and so is each gap.
constexpr unsigned page_count = 9;
constexpr std::uint64_t area_bytes = page_count * small_page_bytes;

}  // namespace

bool SpareMappings::keep() noexcept {
  if (kept_) {
    return true;
  }
  if (!area_.valid()) {
    void* memory = ::mmap(nullptr, area_bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory == MAP_FAILED) {
      return false;
    }
    area_ = Mapping(memory, area_bytes);
  }
  kept_ = true;
  for (unsigned page = 1; page < page_count && kept_; page += 2) {
    kept_ = ::mprotect(area_.data() + page * small_page_bytes, small_page_bytes, PROT_READ) == 0;
  }
  if (!kept_) {
    ::mprotect(area_.data(), area_bytes, PROT_NONE);
  }
  return kept_;
}

void SpareMappings::let_go() noexcept {
  if (kept_) {
    kept_ = ::mprotect(area_.data(), area_bytes, PROT_NONE) != 0;
  }
}

}  // namespace datum
