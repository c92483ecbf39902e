// Software's side of one ring of a DmaBench, and short ways to write descriptors.
#pragma once

#include <cstdint>

#include <datum/hw/registers.hpp>

#include "rtl_model/bench/dma_bench.hpp"

namespace datum::rtl_bench {

/// Spaces of the bench; see DmaBench.
enum Space : std::uint16_t { dram_space = 0, host_space = 1, onchip_space = 2 };

struct Address {
  std::uint16_t space = dram_space;
  std::uint64_t va = 0;
};

hw::Descriptor copy(Address dst, Address src, std::uint64_t bytes);
hw::Descriptor fill(Address dst, std::uint64_t bytes, std::uint8_t size_code, std::uint64_t low,
                    std::uint64_t high = 0);
hw::Descriptor write_value(Address dst, std::uint8_t size_code, std::uint64_t value);
hw::Descriptor wait_value(Address word, hw::WaitCondition condition, std::uint64_t value,
                          std::uint64_t mask = ~std::uint64_t{0}, std::uint64_t error_mask = 0);
hw::Descriptor timestamp(Address dst);
hw::Descriptor barrier();

struct Region {
  std::uint32_t x_bytes = 0, rows = 1, planes = 1;
  std::uint32_t src_row_pitch = 0, dst_row_pitch = 0, src_slice_pitch = 0, dst_slice_pitch = 0;
};

hw::Descriptor copy_region(Address dst, Address src, const Region& region);

/// A ring in host memory, at an address of its own. Configured and enabled when made.
class Ring {
 public:
  Ring(DmaBench& bench, unsigned number, unsigned size_log2 = 8);

  /// Fills the next slot; the sequence number is the slot's index. Room is the caller's to see to.
  void put(const hw::Descriptor& wanted);
  void doorbell();
  void submit(const hw::Descriptor& descriptor);

  void set_enable(bool on);
  /// Starts again with an empty ring.
  void restart();

  [[nodiscard]] unsigned number() const { return number_; }

  [[nodiscard]] hw::RingState state();
  [[nodiscard]] std::uint32_t head();

  [[nodiscard]] std::uint32_t tail() const { return tail_; }

  [[nodiscard]] hw::RingFaultInfoRegister fault_info();
  [[nodiscard]] std::uint64_t fault_address();
  [[nodiscard]] std::uint32_t fault_sequence();
  [[nodiscard]] hw::CompletionRecord record();
  [[nodiscard]] std::uint64_t slot_address(std::uint32_t index) const;

  [[nodiscard]] std::uint64_t record_address() const { return record_address_; }

 private:
  DmaBench& bench_;
  unsigned number_;
  unsigned size_log2_;
  std::uint64_t base_;
  std::uint64_t record_address_;
  std::uint32_t tail_ = 0;
};

}  // namespace datum::rtl_bench
