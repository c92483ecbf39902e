#include "sim/model/register_file.hpp"

#include <algorithm>
#include <array>

#include "sim/model/ecc_registers.hpp"
#include "sim/model/merge.hpp"

namespace datum::sim {

namespace {

constexpr std::uint64_t low_half = 0xffffffffU;
constexpr std::uint32_t register_bytes = 4;
constexpr std::uint64_t window_base_bits = (3ULL << 56U) | 0x000ffffffffff000ULL;
constexpr std::uint64_t space_root_bits = 0x000ffffffffff001ULL;

/// By 32-bit word of BAR0: index into the register table plus one, 0 for none. Made by the compiler: it is
/// far larger than what a program asks it for.
constexpr auto register_at = [] {
  static_assert(hw::register_table.size() < 256);
  std::array<std::uint8_t, hw::bar0_bytes / register_bytes> table{};
  for (std::size_t number = 0; number < hw::register_table.size(); ++number) {
    const auto& info = hw::register_table[number];
    for (std::uint32_t index = 0; index < info.count; ++index) {
      const auto word = (info.offset + index * info.stride_bytes) / register_bytes;
      table[word] = static_cast<std::uint8_t>(number + 1);
      if (info.width_bits == 64) {
        table[word + 1] = static_cast<std::uint8_t>(number + 1);
      }
    }
  }
  return table;
}();

std::uint32_t merge32(std::uint32_t old, std::uint64_t value, std::uint64_t mask) {
  return static_cast<std::uint32_t>(merge(old, value, mask));
}

}  // namespace

RegisterFile::RegisterFile(GoldenParts& parts) : parts_(parts) {}

RegisterFile::Place RegisterFile::find(std::uint32_t offset) const noexcept {
  const auto number = register_at[offset / register_bytes];
  if (number == 0) {
    return {};
  }
  const auto& info = hw::register_table[number - 1U];
  const auto distance = offset - info.offset;
  const auto index = info.stride_bytes == 0 ? 0 : distance / info.stride_bytes;
  return {&info, index, distance - index * info.stride_bytes >= register_bytes};
}

std::uint32_t RegisterFile::read32(std::uint32_t offset) {
  const auto place = find(offset);
  if (place.info == nullptr) {
    return 0;
  }
  if (place.high_half && offset == snapshot_offset_) {
    return snapshot_high_;
  }
  const auto value = read(place);
  if (place.high_half) {
    return static_cast<std::uint32_t>(value >> 32U);
  }
  if (place.info->width_bits == 64) {
    snapshot_offset_ = offset + register_bytes;
    snapshot_high_ = static_cast<std::uint32_t>(value >> 32U);
  }
  return static_cast<std::uint32_t>(value);
}

std::uint64_t RegisterFile::read64(std::uint32_t offset) {
  const auto place = find(offset);
  if (place.info != nullptr && place.info->width_bits == 64) {
    return read(place);
  }
  return read32(offset) | (std::uint64_t{read32(offset + register_bytes)} << 32U);
}

void RegisterFile::write32(std::uint32_t offset, std::uint32_t value) {
  const auto place = find(offset);
  const auto shift = place.high_half ? 32U : 0U;
  write(place, std::uint64_t{value} << shift, low_half << shift);
}

void RegisterFile::write64(std::uint32_t offset, std::uint64_t value) {
  const auto place = find(offset);
  if (place.info != nullptr && place.info->width_bits == 64) {
    write(place, value, ~0ULL);
    return;
  }
  write32(offset, static_cast<std::uint32_t>(value));
  write32(offset + register_bytes, static_cast<std::uint32_t>(value >> 32U));
}

std::uint64_t RegisterFile::read(const Place& place) {
  const auto offset = place.info->offset;
  if (offset < hw::inv_address) {
    return read_global(offset);
  }
  if (offset < hw::perf_host_read_beats) {
    return read_mmu_or_memory(offset, place.index);
  }
  if (offset < hw::inject_address) {
    return read_counter(offset);
  }
  return offset < hw::ring_config_block_base ? read_ecc_register(parts_.ecc, offset)
                                             : read_ring(offset, place.index);
}

void RegisterFile::write(const Place& place, std::uint64_t value, std::uint64_t mask) {
  if (place.info == nullptr || place.info->access == hw::Access::ro) {
    return;
  }
  const auto offset = place.info->offset;
  if (offset < hw::inv_address) {
    write_global(offset, value, mask);
  } else if (offset < hw::ring_config_block_base) {
    write_mmu(offset, place.index, value, mask);
  } else {
    write_ring(offset, place.index, value, mask);
  }
}

std::uint64_t RegisterFile::read_global(std::uint32_t offset) {
  auto& global = parts_.global;
  auto& reports = parts_.rings.reports();
  switch (offset) {
  case hw::magic:
    return hw::magic_value;
  case hw::version:
    return hw::VersionRegister{}.set_major(hw::version_major).set_minor(hw::version_minor).raw;
  case hw::build_id:
    return hw::description_crc;
  case hw::ring_count:
    return RingEngine::ring_count;
  case hw::channel_count:
    return parts_.options.channels;
  case hw::space_count:
    return Mmu::spaces;
  case hw::vector_count:
    return MessageTable::vectors;
  case hw::memory_bytes:
    return parts_.memory.dram_bytes();
  case hw::onchip_bytes:
    return parts_.memory.onchip_bytes();
  case hw::aperture_fixed_bytes:
    return parts_.options.aperture_bytes;
  case hw::aperture_window_bytes:
    return parts_.options.window_bytes;
  case hw::window_base:
    return global.window_base;
  case hw::clock_hz:
    return GoldenParts::clock_hz;
  case hw::timer_hz:
    return GoldenParts::timer_hz;
  case hw::cycles:
    return parts_.counters.cycle - parts_.counters.reset_cycle;
  case hw::timer:
    return parts_.timebase.now_ns(parts_.counters.cycle);
  case hw::status:
    return hw::StatusRegister{}
        .set_memory_ready(true)
        .set_memory_clean(true)
        .set_quiescent(!parts_.rings.has_work())
        .raw;
  case hw::channel_enable:
    return global.channel_enable;
  case hw::park_recheck_ns:
    return parts_.rings.park_recheck_ns();
  case hw::interrupt_rings:
    return reports.interrupt_rings;
  case hw::interrupt_global:
    return reports.interrupt_global;
  case hw::scratch:
    return global.scratch;
  case hw::fault_count:
    return reports.fault_count;
  case hw::fault_log_info:
    return reports.log_info;
  case hw::fault_log_ring:
    return reports.log_ring;
  case hw::fault_log_address:
    return reports.log_address;
  case hw::fault_log_sequence:
    return reports.log_sequence;
  default:  // RESET, which is done when the write returns, and what can only be written
    return 0;
  }
}

std::uint64_t RegisterFile::read_mmu_or_memory(std::uint32_t offset, std::uint32_t index) const {
  const auto& global = parts_.global;
  switch (offset) {
  case hw::inv_address:
    return global.inv_address;
  case hw::inv_bytes:
    return global.inv_bytes;
  case hw::inv_space:
    return global.inv_space;
  case hw::inv_status:
    return global.inv_done_count;
  case hw::space_root(0):
    return parts_.mmu.root(index);
  case hw::mc_status:
    return hw::McStatusRegister{}.set_ready(true).set_ecc(true).raw;
  case hw::mc_timing0:
  case hw::mc_timing1:
  case hw::mc_timing2:
  case hw::mc_timing3:
    return parts_.timing.read((offset - hw::mc_timing0) / register_bytes);
  case hw::mc_timing_status:
    return parts_.timing.status();
  default:
    return read_ecc_register(parts_.ecc, offset);
  }
}

std::uint64_t RegisterFile::read_counter(std::uint32_t offset) const {
  const auto& counters = parts_.counters;
  switch (offset) {
  case hw::perf_host_read_beats:
    return counters.host_read_beats;
  case hw::perf_host_write_beats:
    return counters.host_write_beats;
  case hw::perf_dram_reads:
    return counters.dram_reads;
  case hw::perf_dram_writes:
    return counters.dram_writes;
  case hw::perf_tlb_hits:
    return counters.tlb_hits;
  case hw::perf_walks:
    return counters.walks;
  case hw::perf_descriptors:
    return counters.descriptors;
  case hw::perf_busy_ticks:
    return parts_.rings.busy_ticks();
  case hw::perf_stalled_cycles:
    return counters.stalled_cycles;
  default:  // the golden model opens no rows and needs no refresh
    return 0;
  }
}

std::uint64_t RegisterFile::read_ring(std::uint32_t offset, std::uint32_t index) {
  const auto& ring = parts_.rings.ring(index);
  switch (offset) {
  case hw::ring_base(0):
    return ring.base;
  case hw::ring_completion(0):
    return ring.completion;
  case hw::ring_spaces(0):
    return ring.spaces;
  case hw::ring_size_log2(0):
    return ring.size_log2;
  case hw::ring_control(0):
    return hw::RingControlRegister{}.set_enable(ring.enabled).raw;
  case hw::ring_weight(0):
    return ring.extra_turns;
  case hw::ring_tail(0):
    return ring.tail;
  case hw::ring_head(0):
    return ring.head;
  case hw::ring_state(0):
    // A ring that was stopped is not *disabled* while an access of it is under way.
    return static_cast<std::uint64_t>(!ring.enabled && parts_.memory.busy(index) ? hw::RingState::active
                                                                                 : ring.state());
  case hw::ring_fault_info(0):
    return ring.fault_info;
  case hw::ring_fault_sequence(0):
    return ring.fault_sequence;
  case hw::ring_fault_address(0):
    return ring.fault_address;
  default:
    return 0;
  }
}

void RegisterFile::write_global(std::uint32_t offset, std::uint64_t value, std::uint64_t mask) {
  auto& global = parts_.global;
  auto& reports = parts_.rings.reports();
  switch (offset) {
  case hw::window_base:
    global.window_base = merge(global.window_base, value, mask) & window_base_bits;
    break;
  case hw::reset:
    if (hw::ResetRegister{static_cast<std::uint32_t>(value)}.busy()) {
      parts_.reset();
    }
    break;
  case hw::channel_enable:
    global.channel_enable = std::clamp(static_cast<std::uint32_t>(value), 1U, parts_.options.channels);
    break;
  case hw::park_recheck_ns:
    parts_.rings.set_park_recheck_ns(static_cast<std::uint32_t>(value));
    break;
  case hw::kick_all:
    parts_.watch.kick_all();
    break;
  case hw::interrupt_rings:
    reports.interrupt_rings &= ~(value & mask);
    break;
  case hw::interrupt_global:
    reports.interrupt_global &= ~static_cast<std::uint32_t>(value);
    break;
  case hw::scratch:
    global.scratch = merge(global.scratch, value, mask);
    break;
  case hw::fault_clear:
    reports.clear_faults();
    break;
  default:
    break;
  }
}

void RegisterFile::write_mmu(std::uint32_t offset, std::uint32_t index, std::uint64_t value,
                             std::uint64_t mask) {
  auto& global = parts_.global;
  switch (offset) {
  case hw::inv_address:
    global.inv_address = merge(global.inv_address, value, mask);
    break;
  case hw::inv_bytes:
    global.inv_bytes = merge(global.inv_bytes, value, mask);
    break;
  case hw::inv_space:
    global.inv_space = static_cast<std::uint32_t>(value);
    break;
  case hw::inv_command:
    switch (hw::InvCommandRegister{static_cast<std::uint32_t>(value)}.command()) {
    case 1:
      parts_.mmu.invalidate(global.inv_space, global.inv_address, global.inv_bytes);
      break;
    case 2:
      parts_.mmu.invalidate_all();
      break;
    default:
      return;
    }
    // No slice of a descriptor keeps a translation, so it is done here and now.
    global.inv_done_count = (global.inv_done_count + 1) & 0x7fffffffU;
    break;
  case hw::space_root(0):
    parts_.mmu.set_root(index, merge(parts_.mmu.root(index), value, mask) & space_root_bits);
    break;
  case hw::mc_timing0:
  case hw::mc_timing1:
  case hw::mc_timing2:
  case hw::mc_timing3:
    parts_.timing.write((offset - hw::mc_timing0) / register_bytes, static_cast<std::uint32_t>(value));
    break;
  case hw::mc_timing_status:
    parts_.timing.clear(static_cast<std::uint32_t>(value));
    break;
  default:
    write_ecc_register(parts_.ecc, offset, value, mask);
    break;
  }
}

void RegisterFile::write_ring(std::uint32_t offset, std::uint32_t index, std::uint64_t value,
                              std::uint64_t mask) {
  auto& ring = parts_.rings.ring(index);
  switch (offset) {
  case hw::ring_base(0):
    ring.base = merge(ring.base, value, mask);
    break;
  case hw::ring_completion(0):
    ring.completion = merge(ring.completion, value, mask);
    break;
  case hw::ring_spaces(0):
    ring.spaces = merge(ring.spaces, value, mask);
    break;
  case hw::ring_size_log2(0):
    ring.size_log2 = merge32(ring.size_log2, value, mask);
    break;
  case hw::ring_control(0):
    parts_.rings.set_enabled(index, hw::RingControlRegister{static_cast<std::uint32_t>(value)}.enable());
    break;
  case hw::ring_weight(0):
    ring.extra_turns = hw::RingWeightRegister{static_cast<std::uint32_t>(value)}.extra_turns();
    break;
  case hw::ring_tail(0):
    parts_.rings.ring_doorbell(index, static_cast<std::uint32_t>(value));
    break;
  case hw::ring_kick(0):
    parts_.watch.kick(index);
    break;
  default:
    break;
  }
}

}  // namespace datum::sim
