// Fills memory with a pattern.
#pragma once

#include <array>
#include <cstdint>

#include <datum/base/result.hpp>

namespace datum {

class Lowering;

struct FillCommand {
  void* dst = nullptr;
  std::uint64_t bytes = 0;
  std::array<std::uint64_t, 2> pattern{};  ///< the first 2^pattern_log2 bytes count
  std::uint8_t pattern_log2 = 0;           ///< 0 .. 4

  Status lower(Lowering& lowering) const;
};

}  // namespace datum
