#include "driver/command/failure_log.hpp"

#include <datum/base/mutex.hpp>

namespace datum {

std::uint32_t FailureLog::add(Error error) {
  const ScopedLock lock(mutex_);
  last_ = last_ == ~0U ? 1 : last_ + 1;
  entries_[last_ % entries_.size()] = Entry{last_, std::move(error)};
  return last_;
}

Error FailureLog::find(std::uint32_t number) const {
  const ScopedLock lock(mutex_);
  const Entry& entry = entries_[number % entries_.size()];
  if (number != 0 && entry.number == number) {
    return entry.error;
  }
  return make_error(ErrorCode::unknown, "a command failed; its description is no longer kept");
}

}  // namespace datum
