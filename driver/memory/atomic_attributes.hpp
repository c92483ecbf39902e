// Which atomic accesses the application has ruled out, by page of an allocation and device.
#pragma once

#include <atomic>
#include <cstdint>
#include <map>
#include <optional>
#include <utility>

#include <datum/base/mutex.hpp>

namespace datum {

/// Pages count from the start of the allocation; what was never set is 0. Thread safe.
class AtomicAttributes {
 public:
  struct Pages {
    std::uint64_t first = 0;
    std::uint64_t end = 0;  ///< > first
  };

  /// `allocation` is an id, `device` an index in the driver.
  void set(std::uint64_t allocation, unsigned device, Pages pages, std::uint32_t attributes);
  /// Empty: the pages do not all have the same.
  [[nodiscard]] std::optional<std::uint32_t> get(std::uint64_t allocation, unsigned device,
                                                 Pages pages) const;
  void forget(std::uint64_t allocation);

  /// Nothing was set. Wait-free.
  [[nodiscard]] bool empty() const noexcept { return known_.load(std::memory_order_acquire) == 0; }

 private:
  /// From a page up to the next entry's.
  using Runs = std::map<std::uint64_t, std::uint32_t>;

  mutable Mutex mutex_;
  std::map<std::pair<std::uint64_t, unsigned>, Runs> runs_ DATUM_GUARDED_BY(mutex_);
  std::atomic<std::uint64_t> known_{0};
};

}  // namespace datum
