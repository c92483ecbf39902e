// BAR0 of the golden model: finds the register behind an offset and brings reads and writes to the part that
// owns it.
#pragma once

#include <cstdint>

#include "sim/model/golden_parts.hpp"

namespace datum::sim {

class RegisterFile {
 public:
  explicit RegisterFile(GoldenParts& parts);

  [[nodiscard]] std::uint32_t read32(std::uint32_t offset);
  [[nodiscard]] std::uint64_t read64(std::uint32_t offset);
  void write32(std::uint32_t offset, std::uint32_t value);
  void write64(std::uint32_t offset, std::uint64_t value);

 private:
  struct Place {
    const hw::RegisterInfo* info = nullptr;  ///< nullptr: no register
    std::uint32_t index = 0;                 ///< of the instance
    bool high_half = false;
  };

  [[nodiscard]] Place find(std::uint32_t offset) const noexcept;

  /// `mask` has the bits that the access carries.
  void write(const Place& place, std::uint64_t value, std::uint64_t mask);
  [[nodiscard]] std::uint64_t read(const Place& place);

  [[nodiscard]] std::uint64_t read_global(std::uint32_t offset);
  [[nodiscard]] std::uint64_t read_mmu_or_memory(std::uint32_t offset, std::uint32_t index) const;
  [[nodiscard]] std::uint64_t read_counter(std::uint32_t offset) const;
  [[nodiscard]] std::uint64_t read_ring(std::uint32_t offset, std::uint32_t index);
  void write_global(std::uint32_t offset, std::uint64_t value, std::uint64_t mask);
  void write_mmu(std::uint32_t offset, std::uint32_t index, std::uint64_t value, std::uint64_t mask);
  void write_ring(std::uint32_t offset, std::uint32_t index, std::uint64_t value, std::uint64_t mask);

  GoldenParts& parts_;
  std::uint32_t snapshot_offset_ = ~0U;  // of the high half that the last low half was read with
  std::uint32_t snapshot_high_ = 0;
};

}  // namespace datum::sim
