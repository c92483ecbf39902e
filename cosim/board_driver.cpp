#include "cosim/board_driver.hpp"

#include <atomic>
#include <chrono>
#include <cstring>
#include <stdexcept>
#include <string>
#include <sys/mman.h>
#include <thread>

namespace datum::cosim {

namespace {

constexpr unsigned root_level = 3;
constexpr unsigned level_bits = 9;
/// A step-locked board that hangs hardly gets on in its own time.
constexpr auto host_bound = std::chrono::seconds(30);

void must(const Status& status, const char* what) {
  if (!status) {
    throw std::runtime_error(std::string(what) + ": " + status.error().message);
  }
}

board::Bar* must_have(board::PcieFunction& function, unsigned index) {
  auto bar = function.bar(index);
  if (!bar) {
    throw std::runtime_error(bar.error().message);
  }
  return *bar;
}

}  // namespace

HostBuffer::HostBuffer(board::PcieFunction& function, Iova iova, std::uint64_t bytes, board::DmaAccess access)
    : function_(function), iova_(iova) {
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  if (base == MAP_FAILED) {
    throw std::runtime_error("no host memory");
  }
  memory_ = Mapping(base, bytes);
  must(function.dma_map(iova, memory_.span(), access), "dma_map");
}

HostBuffer::~HostBuffer() {
  if (mapped_) {
    static_cast<void>(function_.dma_unmap(iova_, memory_.size_bytes()));
  }
}

void HostBuffer::unmap() {
  must(function_.dma_unmap(iova_, memory_.size_bytes()), "dma_unmap");
  mapped_ = false;
}

std::uint64_t HostBuffer::word(std::uint64_t offset) const noexcept {
  auto* const at = reinterpret_cast<std::uint64_t*>(memory_.data() + offset);
  return std::atomic_ref<std::uint64_t>(*at).load(std::memory_order_acquire);
}

void HostBuffer::set_word(std::uint64_t offset, std::uint64_t value) noexcept {
  auto* const at = reinterpret_cast<std::uint64_t*>(memory_.data() + offset);
  std::atomic_ref<std::uint64_t>(*at).store(value, std::memory_order_release);
}

Ring::Ring(BoardDriver& driver, unsigned number, unsigned size_log2, std::vector<unsigned> spaces)
    : driver_(driver),
      watch_(driver.ring_watch()),
      number_(number),
      size_log2_(size_log2),
      slots_(std::uint64_t{1} << size_log2),
      spaces_(std::move(spaces)),
      memory_(driver.host(
          align_up(slots_ * sizeof(hw::Descriptor) + sizeof(hw::CompletionRecord), small_page_bytes))) {
  configure();
  enable();
  if (watch_ != nullptr) {
    watch_->started(*this);
  }
}

Ring::~Ring() {
  disable();
  if (watch_ != nullptr) {
    watch_->gone(*this);
  }
}

void Ring::configure() {
  auto& registers = driver_.registers();
  std::uint64_t spaces = 0;
  for (std::size_t slot = 0; slot < spaces_.size(); ++slot) {
    spaces |= (0x8000ULL | spaces_[slot]) << (16 * slot);
  }
  registers.write64(hw::ring_base(number_), raw(memory_->iova()));
  registers.write64(hw::ring_completion(number_), raw(memory_->iova()) + record_offset());
  registers.write64(hw::ring_spaces(number_), spaces);
  registers.write32(hw::ring_size_log2(number_), size_log2_);
}

void Ring::enable() {
  tail_ = 0;
  driver_.registers().write32(hw::ring_control(number_), 1);
}

void Ring::disable() {
  driver_.registers().write32(hw::ring_control(number_), 0);
  static_cast<void>(wait_for_state(hw::RingState::disabled));
}

std::uint32_t Ring::push(hw::Descriptor descriptor) {
  const auto sequence = next_sequence_++;
  descriptor.set_sequence(sequence);
  if (watch_ != nullptr) {
    descriptor.set_flag_complete(true);
    watch_->pushed(*this, descriptor);
  }
  const auto slot = (tail_ % slots_) * sizeof descriptor;
  for (std::size_t word = descriptor.words.size(); word-- > 0;) {
    memory_->set_word(slot + word * sizeof(std::uint64_t), descriptor.words[word]);
  }
  ++tail_;
  return sequence;
}

void Ring::ring_doorbell() {
  driver_.registers().write32(hw::ring_tail(number_), tail_);
  if (watch_ != nullptr) {
    watch_->rung(*this);
  }
}

std::uint32_t Ring::submit(hw::Descriptor descriptor) {
  descriptor.set_flag_complete(true);
  const auto sequence = push(descriptor);
  ring_doorbell();
  return sequence;
}

hw::CompletionRecord Ring::record() const noexcept {
  hw::CompletionRecord record;
  for (std::size_t word = 0; word < record.words.size(); ++word) {
    record.words[word] = memory_->word(record_offset() + word * sizeof(std::uint64_t));
  }
  return record;
}

bool Ring::wait_for(std::uint32_t sequence) {
  return driver_.until([&] {
    return static_cast<std::int32_t>(record().sequence() - sequence) >= 0 ||
           state() == hw::RingState::faulted;
  });
}

bool Ring::wait_for_state(hw::RingState wanted) {
  return driver_.until([&] { return state() == wanted; });
}

hw::RingState Ring::state() {
  return static_cast<hw::RingState>(driver_.registers().read32(hw::ring_state(number_)));
}

std::uint32_t Ring::head() { return driver_.registers().read32(hw::ring_head(number_)); }

hw::RingFaultInfoRegister Ring::fault_info() {
  return {driver_.registers().read32(hw::ring_fault_info(number_))};
}

std::uint64_t Ring::fault_address() { return driver_.registers().read64(hw::ring_fault_address(number_)); }

BoardDriver::BoardDriver(board::PcieFunction& function)
    : function_(function), registers_(must_have(function, 0)), aperture_(must_have(function, 2)) {
  // Page 0 stays unused, so that an address of 0 is never right by accident.
  next_device_ = small_page_bytes;
}

std::unique_ptr<HostBuffer> BoardDriver::host(std::uint64_t bytes, board::DmaAccess access) {
  const auto whole = align_up(bytes, small_page_bytes);
  return std::make_unique<HostBuffer>(function_, reserve_iova(whole), whole, access);
}

Iova BoardDriver::reserve_iova(std::uint64_t bytes) {
  const auto iova = next_iova_;
  next_iova_ += align_up(bytes, small_page_bytes) + small_page_bytes;  // a hole, so that overruns fault
  return Iova{iova};
}

std::uint64_t BoardDriver::device_memory(std::uint64_t bytes, std::uint64_t alignment) {
  const auto address = align_up(next_device_, alignment);
  next_device_ = align_up(address + bytes, small_page_bytes);
  return address;
}

std::uint64_t BoardDriver::new_table() {
  const auto table = device_memory(small_page_bytes);
  const std::vector<std::byte> zeros(small_page_bytes);
  aperture_->write_block(table, zeros);
  return table;
}

std::uint64_t BoardDriver::entry_address(unsigned space, std::uint64_t va, unsigned level) {
  hw::SpaceRootRegister root{registers_->read64(hw::space_root(space))};
  if (!root.valid()) {
    root.set_address_bytes(new_table()).set_valid(true);
    registers_->write64(hw::space_root(space), root.raw);
  }
  auto table = root.address_bytes();
  for (unsigned at = root_level;; --at) {
    const auto index = (va >> (12U + level_bits * at)) & 0x1ffU;
    const auto address = table + index * sizeof(hw::Pte);
    if (at == level) {
      return address;
    }
    hw::Pte entry{aperture_->read64(address)};
    if (!entry.valid()) {
      entry = hw::Pte{}.set_valid(true).set_address_bytes(new_table());
      aperture_->write64(address, entry.raw);
    }
    table = entry.address_bytes();
  }
}

void BoardDriver::set_entry(unsigned space, std::uint64_t va, unsigned level, hw::Pte entry) {
  const auto address = entry_address(space, va, level);
  aperture_->write64(address, entry.raw);
  static_cast<void>(aperture_->read64(address));  // the board has it before the caller goes on
}

void BoardDriver::map(unsigned space, std::uint64_t va, std::uint64_t bytes, hw::Pte leaf) {
  std::uint64_t entry = 0;
  for (std::uint64_t page = 0; page < bytes; page += small_page_bytes) {
    if (page == 0 || (va + page) % large_page_bytes == 0) {
      entry = entry_address(space, va + page, 0);
    }
    aperture_->write64(entry, leaf.raw);
    entry += sizeof(hw::Pte);
    leaf.set_address(leaf.address() + (leaf.valid() ? 1 : 0));
  }
  static_cast<void>(aperture_->read64(entry - sizeof(hw::Pte)));
}

void BoardDriver::map_device(unsigned space, std::uint64_t va, std::uint64_t device_address,
                             std::uint64_t bytes, bool writable) {
  map(space, va, bytes,
      hw::Pte{}.set_valid(true).set_leaf(true).set_writable(writable).set_address_bytes(device_address));
}

void BoardDriver::map_host(unsigned space, std::uint64_t va, const HostBuffer& buffer, bool writable) {
  map(space, va, buffer.bytes().size(),
      hw::Pte{}.set_valid(true).set_leaf(true).set_writable(writable).set_host(true).set_address_bytes(
          raw(buffer.iova())));
}

void BoardDriver::unmap(unsigned space, std::uint64_t va, std::uint64_t bytes) {
  map(space, va, bytes, hw::Pte{});
}

bool BoardDriver::invalidate(unsigned space) {
  const hw::InvStatusRegister before{registers_->read32(hw::inv_status)};
  registers_->write32(hw::inv_space, space);
  registers_->write64(hw::inv_address, 0);
  registers_->write64(hw::inv_bytes, 0);
  registers_->write32(hw::inv_command, hw::InvCommandRegister{}.set_command(1).raw);
  return until([&] {
    const hw::InvStatusRegister now{registers_->read32(hw::inv_status)};
    return !now.busy() && now.done_count() != before.done_count();
  });
}

void BoardDriver::read_device(std::uint64_t device_address, std::span<std::byte> to) {
  aperture_->read_block(device_address, to);
}

void BoardDriver::write_device(std::uint64_t device_address, std::span<const std::byte> from) {
  aperture_->write_block(device_address, from);
}

bool BoardDriver::until(const std::function<bool()>& condition) {
  const auto start = function_.clock();
  const auto deadline = start.now_ns + bound_ns * start.wait_scale;
  const auto host_deadline = std::chrono::steady_clock::now() + host_bound;
  for (unsigned turn = 0;; ++turn) {
    if (ring_watch_ != nullptr) {
      ring_watch_->waits();
    }
    if (condition()) {
      return true;
    }
    if (function_.clock().now_ns >= deadline || std::chrono::steady_clock::now() >= host_deadline ||
        !function_.health()) {
      return condition();
    }
    function_.relax();
    if (turn > 100) {
      std::this_thread::sleep_for(std::chrono::microseconds(50));
    }
  }
}

bool BoardDriver::until_quiescent() {
  return until([&] { return hw::StatusRegister{registers_->read32(hw::status)}.quiescent(); });
}

hw::Descriptor plain_descriptor(hw::Opcode opcode) { return hw::Descriptor{}.set_opcode(opcode); }

hw::Descriptor copy_descriptor(unsigned src_space, std::uint64_t src, unsigned dst_space, std::uint64_t dst,
                               std::uint64_t bytes) {
  return plain_descriptor(hw::Opcode::copy)
      .set_src_space(static_cast<std::uint16_t>(src_space))
      .set_src_address(src)
      .set_dst_space(static_cast<std::uint16_t>(dst_space))
      .set_dst_address(dst)
      .set_bytes(bytes);
}

hw::Descriptor fill_descriptor(unsigned space, std::uint64_t dst, std::uint64_t bytes, unsigned size_code,
                               std::uint64_t low, std::uint64_t high) {
  return plain_descriptor(hw::Opcode::fill)
      .set_dst_space(static_cast<std::uint16_t>(space))
      .set_dst_address(dst)
      .set_bytes(bytes)
      .set_size_code(static_cast<std::uint8_t>(size_code))
      .set_pattern_low(low)
      .set_pattern_high(high);
}

hw::Descriptor write_value_descriptor(unsigned space, std::uint64_t dst, std::uint64_t value,
                                      unsigned size_code) {
  return plain_descriptor(hw::Opcode::write_value)
      .set_dst_space(static_cast<std::uint16_t>(space))
      .set_dst_address(dst)
      .set_size_code(static_cast<std::uint8_t>(size_code))
      .set_value(value);
}

hw::Descriptor wait_descriptor(unsigned space, std::uint64_t word, hw::WaitCondition condition,
                               std::uint64_t value, std::uint64_t mask, std::uint64_t error_mask) {
  return plain_descriptor(hw::Opcode::wait_value)
      .set_dst_space(static_cast<std::uint16_t>(space))
      .set_dst_address(word)
      .set_wait_condition(condition)
      .set_value(value)
      .set_wait_mask(mask)
      .set_wait_error_mask(error_mask);
}

hw::Descriptor timestamp_descriptor(unsigned space, std::uint64_t dst) {
  return plain_descriptor(hw::Opcode::timestamp)
      .set_dst_space(static_cast<std::uint16_t>(space))
      .set_dst_address(dst)
      .set_size_code(3);
}

}  // namespace datum::cosim
