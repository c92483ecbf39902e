// What was done so far is undone where the rest fails.
#pragma once

#include <utility>

namespace datum {

/// Calls `undo` when the scope ends, by a refusal or by an exception, unless it was told that all is done.
/// `undo` does not throw.
template <class Undo>
class [[nodiscard]] Rollback {
 public:
  explicit Rollback(Undo undo) : undo_(std::move(undo)) {}

  ~Rollback() {
    if (armed_) {
      undo_();
    }
  }

  Rollback(const Rollback&) = delete;
  Rollback& operator=(const Rollback&) = delete;

  /// Everything is done, and stays.
  void dismiss() noexcept { armed_ = false; }

 private:
  Undo undo_;
  bool armed_ = true;
};

}  // namespace datum
