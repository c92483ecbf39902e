// Recordings of boards (waveforms, coverage) that are whole also where the process ends with its boards open,
// as programs of Level Zero do: no call of the API ends a driver.
#pragma once

#include <datum/base/mutex.hpp>

namespace datum::sim {

class Recording {
 public:
  Recording(const Recording&) = delete;
  Recording& operator=(const Recording&) = delete;

  /// Ends the recording, once, at the process's exit at the latest. Any thread.
  void finish() noexcept;

 protected:
  Recording() = default;
  virtual ~Recording() = default;

  /// finish() is called at exit from here on. Not in a forked child, whose parent goes on with the files.
  void finish_at_exit();
  /// Called by the destructor of the derived class, which is still whole then.
  void end() noexcept;

  [[nodiscard]] bool is_recording() const noexcept DATUM_REQUIRES(mutex_) { return recording_; }

  Mutex mutex_;  ///< held while anything is recorded

 private:
  /// Writes what is to be written last.
  virtual void close() DATUM_REQUIRES(mutex_) = 0;

  bool recording_ DATUM_GUARDED_BY(mutex_) = true;
};

}  // namespace datum::sim
