// Why commands failed: kept by number, because an event word has room for a number only.
#pragma once

#include <cstdint>
#include <vector>

#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>

namespace datum {

/// Keeps the sentences of the last failures of one device. Thread safe.
class FailureLog {
 public:
  explicit FailureLog(unsigned capacity) : entries_(capacity) {}

  /// The failure's number, never 0.
  std::uint32_t add(Error error);
  /// The failure of that number; a general sentence when it was too long ago.
  [[nodiscard]] Error find(std::uint32_t number) const;

 private:
  struct Entry {
    std::uint32_t number = 0;
    Error error;
  };

  mutable Mutex mutex_;
  std::uint32_t last_ DATUM_GUARDED_BY(mutex_) = 0;
  std::vector<Entry> entries_ DATUM_GUARDED_BY(mutex_);
};

}  // namespace datum
