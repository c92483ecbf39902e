// Which bits of the DRAM's cells are wrong. The cells themselves hold what was written, so that bytes written
// beside the controller are right but for the same bits.
#pragma once

#include <cstdint>
#include <iterator>
#include <map>
#include <optional>

namespace datum::sim {

/// Wrong bits of one word and of its check bits.
struct ErrorMask {
  std::uint64_t data = 0;
  std::uint8_t check = 0;

  [[nodiscard]] bool empty() const noexcept { return data == 0 && check == 0; }

  friend bool operator==(const ErrorMask&, const ErrorMask&) = default;
};

/// By device address of a word of 8 bytes.
class ErrorMasks {
 public:
  static constexpr std::uint64_t word_bytes = 8;

  [[nodiscard]] bool empty() const noexcept { return masks_.empty(); }

  [[nodiscard]] ErrorMask at(std::uint64_t word) const {
    const auto found = masks_.find(word);
    return found == masks_.end() ? ErrorMask{} : found->second;
  }

  void set(std::uint64_t word, ErrorMask mask) {
    if (mask.empty()) {
      masks_.erase(word);
    } else {
      masks_[word] = mask;
    }
  }

  /// The first wrong word in [first, end).
  [[nodiscard]] std::optional<std::uint64_t> next(std::uint64_t first, std::uint64_t end) const {
    const auto found = masks_.lower_bound(first);
    return found == masks_.end() || found->first >= end ? std::nullopt : std::optional{found->first};
  }

 private:
  std::map<std::uint64_t, ErrorMask> masks_;
};

}  // namespace datum::sim
