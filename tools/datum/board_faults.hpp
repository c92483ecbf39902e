// What a board remembers of descriptors that failed.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <datum/hw/registers.hpp>

#include "tools/datum/open_board.hpp"

namespace datum::tool {

/// One failure, in the numbers that the board gave.
struct FaultRecord {
  std::uint32_t ring = 0;
  std::uint32_t sequence = 0;
  hw::RingFaultInfoRegister info{};
  std::uint64_t address = 0;

  /// In the words that the driver has for it.
  [[nodiscard]] std::string sentence() const;
};

struct BoardFaults {
  std::uint32_t count = 0;                    ///< since the log was cleared
  std::optional<FaultRecord> first;           ///< of those; empty: none
  std::vector<FaultRecord> stopped_rings;     ///< rings that stand still since their failure
  std::vector<board::DmaFault> iommu_faults;  ///< that the backend knows of and nobody has asked for
};

[[nodiscard]] BoardFaults read_faults(OpenBoard& board);

/// Clears count and log. Stopped rings stay as they are: their owner starts them again.
void clear_faults(OpenBoard& board);

}  // namespace datum::tool
