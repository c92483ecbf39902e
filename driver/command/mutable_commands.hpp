// Which commands of a mutable list may be changed after they were recorded.
#pragma once

#include <cstdint>
#include <optional>
#include <vector>

#include <datum/base/mutex.hpp>

namespace datum {

/// Identifiers count from 1 and are valid until the list is reset. Thread safe.
class MutableCommands {
 public:
  /// What one append recorded: the first command waits, the last one signals.
  struct Range {
    std::uint32_t first = 0;
    std::uint32_t last = 0;
  };

  MutableCommands() = default;

  MutableCommands(const MutableCommands& other) : ranges_(other.copy()) {}

  MutableCommands& operator=(const MutableCommands&) = delete;
  MutableCommands(MutableCommands&&) = delete;
  MutableCommands& operator=(MutableCommands&&) = delete;
  ~MutableCommands() = default;

  /// An identifier for what is appended next, from command number `next` on.
  std::uint64_t name_next(std::uint32_t next) {
    const ScopedLock lock(mutex_);
    ranges_.push_back({next, next});
    open_ = true;
    return ranges_.size();
  }

  /// An append recorded the commands `first` to `last`.
  void appended(std::uint32_t first, std::uint32_t last) {
    const ScopedLock lock(mutex_);
    for (std::size_t index = ranges_.size(); open_ && index > 0 && ranges_[index - 1].first == first;
         --index) {
      ranges_[index - 1].last = last;
    }
    open_ = false;
  }

  /// Nothing: no such identifier, or nothing was appended since it was given out.
  [[nodiscard]] std::optional<Range> find(std::uint64_t id, std::size_t command_count) const {
    const ScopedLock lock(mutex_);
    if (id == 0 || id > ranges_.size() || ranges_[id - 1].first >= command_count) {
      return std::nullopt;
    }
    return ranges_[id - 1];
  }

  void clear() {
    const ScopedLock lock(mutex_);
    ranges_.clear();
    open_ = false;
  }

 private:
  [[nodiscard]] std::vector<Range> copy() const {
    const ScopedLock lock(mutex_);
    return ranges_;
  }

  mutable Mutex mutex_;
  std::vector<Range> ranges_ DATUM_GUARDED_BY(mutex_);
  bool open_ DATUM_GUARDED_BY(mutex_) = false;  ///< the last range still awaits its append
};

}  // namespace datum
