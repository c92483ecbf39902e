// Ranges of system memory that an application has announced for copies.
#pragma once

#include <cstdint>
#include <map>

#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>

namespace datum {

/// A book and nothing more: copies pin what they use anyway, and a pinned page is kept for the next copy.
/// Thread safe.
class HostPointers {
 public:
  /// invalid_argument: empty, not mapped in this process, or overlapping a range that is there.
  Status import(void* pointer, std::uint64_t bytes);
  /// invalid_argument: `pointer` is not the first byte of a range that is there.
  Status release(void* pointer);
  /// The first byte of the range that `pointer` lies in. invalid_argument: none.
  Result<void*> base_of(const void* pointer) const;

 private:
  mutable Mutex mutex_;
  std::map<std::uintptr_t, std::uint64_t>
      ranges_ DATUM_GUARDED_BY(mutex_);  ///< bytes by first byte; disjoint
};

}  // namespace datum
