// Errors of one kind in the board's DRAM, as the board counts them.
#pragma once

#include <atomic>
#include <cstdint>

#include <datum/base/result.hpp>

namespace datum {

class Board;

/// Thread safe.
class ErrorSet {
 public:
  enum class Kind : std::uint8_t { corrected, uncorrected };

  ErrorSet(Board& board, Kind kind) noexcept : board_(board), kind_(kind) {}

  [[nodiscard]] Kind kind() const noexcept { return kind_; }

  /// Words that were read wrong since the board was opened or clear() was called. device_lost: the board does
  /// not answer.
  Result<std::uint64_t> count();
  /// The count goes on from zero; the board's own goes on as it is.
  Status clear();

 private:
  Result<std::uint64_t> counted_by_board();

  Board& board_;
  const Kind kind_;
  std::atomic<std::uint64_t> cleared_at_{0};
};

}  // namespace datum
