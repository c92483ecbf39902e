// What a board says about a descriptor that failed, and how to say it to people.
#pragma once

#include <cstdint>
#include <string>

#include <datum/base/result.hpp>
#include <datum/hw/registers.hpp>

namespace datum {

/// Numbers as the board gave them; nothing in here is trusted as an index.
struct RingFault {
  hw::Status status = hw::Status::ok;
  hw::FaultReason reason = hw::FaultReason::none;
  bool write = false;
  unsigned space = 0;
  std::uint64_t address = 0;
  std::uint32_t sequence = 0;  ///< of the failed descriptor
  bool nonsense = false;       ///< the board contradicted itself; `sentence` says how
  std::string sentence;
};

/// "copy of 4096 bytes from 0x... to 0x..."
[[nodiscard]] std::string describe(const hw::Descriptor& descriptor);

/// "the write to 0x... was refused: the page is read-only (space 3)"
[[nodiscard]] std::string describe(const RingFault& fault);

}  // namespace datum
