#include "sim/model/ecc_registers.hpp"

#include "sim/memory/dram_geometry.hpp"
#include "sim/model/merge.hpp"

namespace datum::sim {

namespace {

constexpr std::uint64_t column_address_bits = 0x7f'ffff'ffc0;
constexpr std::uint64_t word_address_bits = 0x7f'ffff'fff8;

std::uint32_t info_of(const EccLog& log) noexcept {
  if (!log.valid) {
    return 0;
  }
  return hw::EccCorrectedInfoRegister{}
      .set_valid(true)
      .set_scrub(log.scrub)
      .set_bank(static_cast<std::uint8_t>(bank_of(log.address)))
      .set_syndrome(log.syndrome)
      .raw;
}

void clear(EccRegisters& registers, hw::EccClearRegister what) noexcept {
  if (what.counts()) {
    registers.corrected_count = registers.uncorrected_count = 0;
  }
  if (what.logs()) {
    registers.corrected = registers.uncorrected = {};
  }
}

}  // namespace

std::uint64_t read_ecc_register(const EccUnit& ecc, std::uint32_t offset) noexcept {
  const auto& registers = ecc.registers;
  switch (offset) {
  case hw::ecc_corrected_count:
    return registers.corrected_count;
  case hw::ecc_uncorrected_count:
    return registers.uncorrected_count;
  case hw::ecc_corrected_info:
    return info_of(registers.corrected);
  case hw::ecc_corrected_address:
    return registers.corrected.address;
  case hw::ecc_uncorrected_info:
    return info_of(registers.uncorrected);
  case hw::ecc_uncorrected_address:
    return registers.uncorrected.address;
  case hw::scrub_position:
    return registers.scrub_position;
  case hw::scrub_interval:
    return registers.scrub_interval;
  case hw::inject_address:
    return registers.inject_address;
  case hw::inject_data:
    return registers.inject_data;
  case hw::inject_check:
    return registers.inject_check;
  default:  // scrubs and injections are done when the write that asks for them returns
    return 0;
  }
}

void write_ecc_register(EccUnit& ecc, std::uint32_t offset, std::uint64_t value, std::uint64_t mask) {
  auto& registers = ecc.registers;
  switch (offset) {
  case hw::ecc_clear:
    clear(registers, {static_cast<std::uint32_t>(value)});
    break;
  case hw::scrub_position:
    registers.scrub_position = merge(registers.scrub_position, value, mask) & column_address_bits;
    break;
  case hw::scrub_remaining:
    ecc.scrub((value & mask & column_address_bits) / column_bytes);
    break;
  case hw::scrub_interval:
    ecc.set_interval(static_cast<std::uint32_t>(value));
    break;
  case hw::inject_address:
    registers.inject_address = merge(registers.inject_address, value, mask) & word_address_bits;
    break;
  case hw::inject_data:
    registers.inject_data = merge(registers.inject_data, value, mask);
    break;
  case hw::inject_check:
    registers.inject_check = static_cast<std::uint8_t>(value);
    break;
  case hw::inject_command:
    if (hw::InjectCommandRegister{static_cast<std::uint32_t>(value)}.busy()) {
      ecc.inject();
    }
    break;
  default:
    break;
  }
}

}  // namespace datum::sim
