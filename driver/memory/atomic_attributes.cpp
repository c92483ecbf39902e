#include "driver/memory/atomic_attributes.hpp"

#include <algorithm>
#include <iterator>

#include <datum/base/mutex.hpp>

namespace datum {
namespace {

std::uint32_t at(const std::map<std::uint64_t, std::uint32_t>& runs, std::uint64_t page) {
  const auto next = runs.upper_bound(page);
  return next == runs.begin() ? 0 : std::prev(next)->second;
}

}  // namespace

void AtomicAttributes::set(std::uint64_t allocation, unsigned device, Pages pages, std::uint32_t attributes) {
  const ScopedLock lock(mutex_);
  Runs& runs = runs_[std::pair(allocation, device)];
  const std::uint32_t behind = at(runs, pages.end);
  runs.insert_or_assign(pages.end, behind);
  runs.erase(runs.lower_bound(pages.first), runs.find(pages.end));
  runs.insert_or_assign(pages.first, attributes);
  known_.store(runs_.size(), std::memory_order_release);
}

std::optional<std::uint32_t> AtomicAttributes::get(std::uint64_t allocation, unsigned device,
                                                   Pages pages) const {
  const ScopedLock lock(mutex_);
  const auto found = runs_.find({allocation, device});
  if (found == runs_.end()) {
    return 0;
  }
  const Runs& runs = found->second;
  const std::uint32_t first = at(runs, pages.first);
  const bool same = std::all_of(runs.upper_bound(pages.first), runs.lower_bound(pages.end),
                                [first](const auto& run) { return run.second == first; });
  return same ? std::optional(first) : std::nullopt;
}

void AtomicAttributes::forget(std::uint64_t allocation) {
  const ScopedLock lock(mutex_);
  runs_.erase(runs_.lower_bound({allocation, 0}), runs_.upper_bound({allocation, ~0U}));
  known_.store(runs_.size(), std::memory_order_release);
}

}  // namespace datum
