#include "driver/device/faults.hpp"

#include <fmt/format.h>

namespace datum {

namespace {

const char* words_for(hw::FaultReason reason) {
  switch (reason) {
  case hw::FaultReason::none:
    return "no detail";
  case hw::FaultReason::not_present:
    return "nothing is mapped there";
  case hw::FaultReason::write_refused:
    return "the page is read-only";
  case hw::FaultReason::malformed_entry:
    return "its page-table entry is malformed";
  case hw::FaultReason::space_not_allowed:
    return "the ring may not use that address space";
  case hw::FaultReason::no_root:
    return "the address space has no page table";
  case hw::FaultReason::not_canonical:
    return "the address has more than 48 bits, or the range wraps";
  case hw::FaultReason::table_read:
    return "a page table could not be read";
  case hw::FaultReason::bus_read:
    return "the host answered the read with an error";
  case hw::FaultReason::bus_write:
    return "the host answered the write with an error";
  case hw::FaultReason::descriptor_fetch:
    return "the descriptor could not be fetched";
  case hw::FaultReason::completion_write:
    return "the completion record could not be written";
  case hw::FaultReason::opcode:
    return "the opcode is unknown to the board";
  case hw::FaultReason::reserved_bits:
    return "reserved bits of the descriptor are set";
  case hw::FaultReason::alignment:
    return "the address of the word is not aligned";
  case hw::FaultReason::size:
    return "the size is out of range";
  case hw::FaultReason::uncorrectable:
    return "a word there has more wrong bits than can be corrected, and is lost until it is written again";
  }
  return "a reason unknown to this driver";
}

}  // namespace

std::string describe(const hw::Descriptor& d) {
  switch (d.opcode()) {
  case hw::Opcode::copy:
    return fmt::format("copy of {} bytes from {:#x} to {:#x}", d.bytes(), d.src_address(), d.dst_address());
  case hw::Opcode::copy_region:
    return fmt::format("copy of a region of {} bytes x {} rows x {} planes from {:#x} to {:#x}",
                       d.region_x_bytes(), d.region_rows(), d.region_planes(), d.src_address(),
                       d.dst_address());
  case hw::Opcode::fill:
    return fmt::format("fill of {} bytes at {:#x}", d.bytes(), d.dst_address());
  case hw::Opcode::write_value:
    return fmt::format("signal at {:#x}", d.dst_address());
  case hw::Opcode::wait_value:
    return fmt::format("wait for the word at {:#x}", d.dst_address());
  case hw::Opcode::timestamp:
    return fmt::format("timestamp to {:#x}", d.dst_address());
  case hw::Opcode::barrier:
  case hw::Opcode::nop:
    return "barrier";
  }
  return "unknown command";
}

std::string describe(const RingFault& fault) {
  if (fault.nonsense) {
    return fault.sentence;
  }
  const char* direction = fault.write ? "write to" : "read of";
  switch (fault.status) {
  case hw::Status::mmu:
    return fmt::format("the {} {:#x} was refused: {} (space {})", direction, fault.address,
                       words_for(fault.reason), fault.space);
  case hw::Status::host_bus:
    return fmt::format("host memory failed at {:#x}: {}", fault.address, words_for(fault.reason));
  case hw::Status::memory:
    return fault.reason == hw::FaultReason::uncorrectable
               ? fmt::format("device memory failed at {:#x}: {}", fault.address, words_for(fault.reason))
               : fmt::format("device memory failed at {:#x}: it lies beyond the memory", fault.address);
  case hw::Status::malformed:
    return fmt::format("the board rejected the descriptor: {}", words_for(fault.reason));
  case hw::Status::dependency:
    return "a command that it waited for had failed";
  case hw::Status::aborted:
    return "the ring was stopped";
  case hw::Status::ok:
    break;
  }
  return fmt::format("the board reported status {}", static_cast<unsigned>(fault.status));
}

}  // namespace datum
