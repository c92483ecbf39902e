// A waveform, read back.
#pragma once

#include <cstdint>
#include <map>
#include <string>
#include <vector>

namespace datum::test {

class FstFile {
 public:
  /// A file that is no waveform has no signals.
  explicit FstFile(const std::string& file);
  ~FstFile();
  FstFile(const FstFile&) = delete;
  FstFile& operator=(const FstFile&) = delete;

  /// By whole names, "TOP.datum_board.timer_i".
  [[nodiscard]] bool has(const std::string& signal) const { return handles_.contains(signal); }

  [[nodiscard]] std::size_t signals() const noexcept { return handles_.size(); }

  /// Whether a signal stands below the scope.
  [[nodiscard]] bool has_below(const std::string& scope) const;

  [[nodiscard]] std::uint64_t first_cycle() const;
  [[nodiscard]] std::uint64_t last_cycle() const;

  struct Change {
    std::uint64_t cycle = 0;
    std::uint64_t value = 0;
  };

  /// Of a signal of at most 64 bits, its first value included.
  [[nodiscard]] std::vector<Change> changes_of(const std::string& signal) const;

 private:
  void* reader_;
  std::map<std::string, unsigned> handles_;
};

}  // namespace datum::test
