#include "sim/rtl/recording.hpp"

#include <algorithm>
#include <cstdlib>
#include <unistd.h>
#include <vector>

#include <datum/base/mutex.hpp>

namespace datum::sim {
namespace {

struct OpenRecordings {
  Mutex mutex;
  std::vector<Recording*> all DATUM_GUARDED_BY(mutex);
  ::pid_t process = ::getpid();
};

/// Never destroyed: boards may outlive every static object.
OpenRecordings& open_recordings() {
  static auto& open = *new OpenRecordings;
  return open;
}

void finish_all() {
  OpenRecordings& open = open_recordings();
  if (open.process != ::getpid()) {
    return;
  }
  const ScopedLock lock(open.mutex);
  for (Recording* recording : open.all) {
    recording->finish();
  }
}

}  // namespace

void Recording::finish() noexcept {
  const ScopedLock lock(mutex_);
  if (recording_) {
    recording_ = false;
    try {
      close();
    } catch (...) {
      // There is nobody to tell: the file is as far as it came.
    }
  }
}

void Recording::finish_at_exit() {
  static const bool registered = std::atexit(finish_all) == 0;
  static_cast<void>(registered);
  OpenRecordings& open = open_recordings();
  const ScopedLock lock(open.mutex);
  open.all.push_back(this);
}

void Recording::end() noexcept {
  {
    OpenRecordings& open = open_recordings();
    const ScopedLock lock(open.mutex);
    std::erase(open.all, this);
  }
  finish();
}

}  // namespace datum::sim
