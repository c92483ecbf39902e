#include "tools/datum/board_faults.hpp"

#include <algorithm>

#include "driver/device/faults.hpp"

namespace datum::tool {

std::string FaultRecord::sentence() const {
  RingFault fault;
  fault.status = info.status();
  fault.reason = info.reason();
  fault.write = info.write();
  fault.space = info.space();
  fault.address = address;
  fault.sequence = sequence;
  return describe(fault);
}

BoardFaults read_faults(OpenBoard& board) {
  board::Bar& registers = *board.registers;
  BoardFaults faults;
  faults.count = registers.read32(hw::fault_count);
  if (faults.count != 0) {
    faults.first = FaultRecord{registers.read32(hw::fault_log_ring), registers.read32(hw::fault_log_sequence),
                               hw::RingFaultInfoRegister{registers.read32(hw::fault_log_info)},
                               registers.read64(hw::fault_log_address)};
  }
  const std::uint32_t rings = std::min(registers.read32(hw::ring_count), hw::ring_page_block_count);
  for (std::uint32_t ring = 0; ring < rings; ++ring) {
    if (registers.read32(hw::ring_state(ring)) == static_cast<std::uint32_t>(hw::RingState::faulted)) {
      faults.stopped_rings.push_back({ring, registers.read32(hw::ring_fault_sequence(ring)),
                                      hw::RingFaultInfoRegister{registers.read32(hw::ring_fault_info(ring))},
                                      registers.read64(hw::ring_fault_address(ring))});
    }
  }
  faults.iommu_faults = board.function->take_dma_faults();
  return faults;
}

void clear_faults(OpenBoard& board) { board.registers->write32(hw::fault_clear, 1); }

}  // namespace datum::tool
