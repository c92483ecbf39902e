// Recordings of boards (waveforms, coverage) that are whole also where the process ends with its boards open,
// as programs of Level Zero do: no call of the API ends a driver.
#pragma once

#include <mutex>

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

  /// Held while anything is recorded.
  [[nodiscard]] std::unique_lock<std::mutex> while_recording() { return std::unique_lock(mutex_); }

  /// Under the lock.
  [[nodiscard]] bool is_recording() const noexcept { return recording_; }

 private:
  /// Writes what is to be written last. Under the lock.
  virtual void close() = 0;

  std::mutex mutex_;
  bool recording_ = true;
};

}  // namespace datum::sim
