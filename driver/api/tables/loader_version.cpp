#include "driver/api/tables/loader_version.hpp"

#include <atomic>

namespace datum::api {
namespace {

constinit std::atomic<ze_api_version_t> lowest{ZE_API_VERSION_FORCE_UINT32};

}  // namespace

ze_api_version_t lowest_loader_version() noexcept { return lowest.load(std::memory_order_relaxed); }

void note_loader_version(ze_api_version_t version) noexcept {
  ze_api_version_t known = lowest.load(std::memory_order_relaxed);
  while (version < known && !lowest.compare_exchange_weak(known, version, std::memory_order_relaxed)) {
  }
}

void forget_loader_versions() noexcept {
  lowest.store(ZE_API_VERSION_FORCE_UINT32, std::memory_order_relaxed);
}

}  // namespace datum::api
