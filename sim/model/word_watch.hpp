// Which words parked rings wait for, so that a write of the board itself makes them look again.
#pragma once

#include <array>
#include <bit>
#include <cstdint>

#include "sim/model/physical.hpp"

namespace datum::sim {

class WordWatch {
 public:
  static constexpr unsigned rings = hw::ring_page_block_count;

  void watch(unsigned ring, Physical word) noexcept {
    words_[ring] = word;
    watching_ |= bit(ring);
    due_ &= ~bit(ring);
  }

  void forget(unsigned ring) noexcept {
    watching_ &= ~bit(ring);
    due_ &= ~bit(ring);
  }

  void forget_all() noexcept { watching_ = due_ = 0; }

  void written(Physical first, std::uint64_t bytes) noexcept {
    for (auto left = watching_ & ~due_; left != 0; left &= left - 1) {
      const auto ring = static_cast<unsigned>(std::countr_zero(left));
      const auto& word = words_[ring];
      if (word.target == first.target && word.address < first.address + bytes &&
          first.address < word.address + sizeof(std::uint64_t)) {
        due_ |= bit(ring);
      }
    }
  }

  void kick(unsigned ring) noexcept { due_ |= watching_ & bit(ring); }

  void kick_all() noexcept { due_ = watching_; }

  [[nodiscard]] bool watching(unsigned ring) const noexcept { return (watching_ & bit(ring)) != 0; }

  [[nodiscard]] bool any_watching() const noexcept { return watching_ != 0; }

  [[nodiscard]] bool due(unsigned ring) const noexcept { return (due_ & bit(ring)) != 0; }

  [[nodiscard]] bool any_due() const noexcept { return due_ != 0; }

 private:
  static constexpr std::uint64_t bit(unsigned ring) noexcept { return 1ULL << ring; }

  std::array<Physical, rings> words_{};
  std::uint64_t watching_ = 0;
  std::uint64_t due_ = 0;
};

}  // namespace datum::sim
