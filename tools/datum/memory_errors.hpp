// Error correction of a board's DRAM: what was met, the scrubber, and errors made on purpose.
#pragma once

#include <cstdint>
#include <optional>

#include <datum/base/result.hpp>
#include <datum/hw/registers.hpp>

#include "tools/datum/open_board.hpp"

namespace datum::tool {

/// The first word of its kind since the board's log was emptied.
struct MemoryError {
  std::uint64_t address = 0;
  unsigned bank = 0;
  unsigned syndrome = 0;
  bool scrub = false;  ///< the scrubber found it
};

struct MemoryErrors {
  std::uint64_t corrected = 0;
  std::uint64_t uncorrected = 0;
  std::optional<MemoryError> first_corrected;
  std::optional<MemoryError> first_uncorrected;
  std::uint64_t scrub_position = 0;
  std::uint64_t scrub_remaining = 0;
  std::uint32_t scrub_interval_cycles = 0;
};

/// unsupported_feature: the board's memory is not protected; device_lost: the board does not answer.
Result<MemoryErrors> read_memory_errors(OpenBoard& board);
/// Counts and logs.
Status clear_memory_errors(OpenBoard& board);

/// Makes bits of the word of 8 bytes at `address` wrong. invalid_argument: no such word.
Status inject_error(OpenBoard& board, std::uint64_t address, std::uint64_t data_bits,
                    std::uint8_t check_bits);

/// Scrubs `bytes` from `address` on, to the end of the memory at most, and waits until that is done; returns
/// how many were scrubbed. Bytes 0: to the end. invalid_argument: the address is beyond the memory.
Result<std::uint64_t> scrub(OpenBoard& board, std::uint64_t address, std::uint64_t bytes);
/// One column each `cycles`; 0: none.
Status set_scrub_interval(OpenBoard& board, std::uint32_t cycles);

}  // namespace datum::tool
