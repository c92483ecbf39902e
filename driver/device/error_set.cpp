#include "driver/device/error_set.hpp"

#include <utility>

#include <datum/hw/registers.hpp>

#include "driver/device/board.hpp"

namespace datum {

Result<std::uint64_t> ErrorSet::counted_by_board() {
  const std::uint64_t counted =
      board_.read64(kind_ == Kind::corrected ? hw::ecc_corrected_count : hw::ecc_uncorrected_count);
  // All ones is what a board that is gone answers, and no count that could be reached.
  if (counted == ~0ULL) {
    if (Status alive = board_.health(); !alive) {
      return std::move(alive).error();
    }
  }
  return counted;
}

Result<std::uint64_t> ErrorSet::count() {
  Result<std::uint64_t> counted = counted_by_board();
  if (!counted) {
    return counted;
  }
  // Somebody else may have set the board's count to zero meanwhile.
  const std::uint64_t before = cleared_at_.load(std::memory_order_relaxed);
  return *counted >= before ? *counted - before : *counted;
}

Status ErrorSet::clear() {
  Result<std::uint64_t> counted = counted_by_board();
  if (!counted) {
    return std::move(counted).error();
  }
  cleared_at_.store(*counted, std::memory_order_relaxed);
  return {};
}

}  // namespace datum
