// The smallest driver of a board that can be: enough to make the board do everything it promises, straight on
// the seam.
#pragma once

#include <cstddef>
#include <cstdint>
#include <functional>
#include <memory>
#include <span>
#include <vector>

#include <datum/base/mapping.hpp>
#include <datum/board/pcie_function.hpp>
#include <datum/hw/registers.hpp>

namespace datum::cosim {

/// Host memory that the board can reach, until it goes.
class HostBuffer {
 public:
  HostBuffer(board::PcieFunction& function, Iova iova, std::uint64_t bytes, board::DmaAccess access);
  ~HostBuffer();
  HostBuffer(const HostBuffer&) = delete;
  HostBuffer& operator=(const HostBuffer&) = delete;

  [[nodiscard]] Iova iova() const noexcept { return iova_; }

  [[nodiscard]] std::span<std::byte> bytes() const noexcept { return memory_.span(); }

  [[nodiscard]] std::byte* data() const noexcept { return memory_.data(); }

  /// A word that the board writes meanwhile.
  [[nodiscard]] std::uint64_t word(std::uint64_t offset) const noexcept;
  void set_word(std::uint64_t offset, std::uint64_t value) noexcept;

  /// Takes the mapping away early.
  void unmap();

 private:
  board::PcieFunction& function_;
  Iova iova_;
  Mapping memory_;
  bool mapped_ = true;
};

class BoardDriver;
class Ring;

/// Who looks on at what rings do.
class RingWatch {
 public:
  RingWatch() = default;
  virtual ~RingWatch() = default;
  RingWatch(const RingWatch&) = delete;
  RingWatch& operator=(const RingWatch&) = delete;

  virtual void started(Ring& ring) = 0;
  virtual void pushed(Ring& ring, const hw::Descriptor& descriptor) = 0;
  virtual void rung(Ring& ring) = 0;
  virtual void gone(Ring& ring) = 0;
  /// The driver waits for something: the moment to look at records.
  virtual void waits() = 0;
};

/// One descriptor ring. Sequence numbers count up from 1.
class Ring {
 public:
  Ring(BoardDriver& driver, unsigned number, unsigned size_log2, std::vector<unsigned> spaces);
  ~Ring();
  Ring(const Ring&) = delete;
  Ring& operator=(const Ring&) = delete;

  [[nodiscard]] unsigned number() const noexcept { return number_; }

  [[nodiscard]] std::uint32_t tail() const noexcept { return tail_; }

  [[nodiscard]] std::uint64_t slots() const noexcept { return slots_; }

  [[nodiscard]] HostBuffer& memory() noexcept { return *memory_; }

  /// Puts a descriptor into the next slot and gives it its sequence number, which it returns.
  std::uint32_t push(hw::Descriptor descriptor);
  void ring_doorbell();
  /// push with a record wanted, and doorbell.
  std::uint32_t submit(hw::Descriptor descriptor);

  /// Waits until the record of `sequence` or a later one has come, or the ring has faulted. False after a
  /// bound.
  [[nodiscard]] bool wait_for(std::uint32_t sequence);
  [[nodiscard]] bool wait_for_state(hw::RingState state);
  [[nodiscard]] hw::CompletionRecord record() const noexcept;
  [[nodiscard]] hw::RingState state();
  [[nodiscard]] std::uint32_t head();
  [[nodiscard]] hw::RingFaultInfoRegister fault_info();
  [[nodiscard]] std::uint64_t fault_address();

  void configure();
  void enable();
  void disable();

 private:
  [[nodiscard]] std::uint64_t record_offset() const noexcept { return slots_ * sizeof(hw::Descriptor); }

  BoardDriver& driver_;
  RingWatch* watch_;
  unsigned number_;
  unsigned size_log2_;
  std::uint64_t slots_;
  std::vector<unsigned> spaces_;
  std::unique_ptr<HostBuffer> memory_;  // the slots, then the record
  std::uint32_t tail_ = 0;
  std::uint32_t next_sequence_ = 1;
};

class BoardDriver {
 public:
  explicit BoardDriver(board::PcieFunction& function);

  [[nodiscard]] board::PcieFunction& function() noexcept { return function_; }

  [[nodiscard]] board::Bar& registers() noexcept { return *registers_; }

  [[nodiscard]] board::Bar& aperture() noexcept { return *aperture_; }

  /// Page-aligned, zero, mapped at an IOVA of its own.
  [[nodiscard]] std::unique_ptr<HostBuffer> host(std::uint64_t bytes,
                                                 board::DmaAccess access = board::DmaAccess::read_write);
  /// `bytes` of ordinal-0 memory that nothing else uses, inside the fixed aperture.
  [[nodiscard]] std::uint64_t device_memory(std::uint64_t bytes, std::uint64_t alignment = small_page_bytes);
  /// An IOVA range that nothing uses.
  [[nodiscard]] Iova reserve_iova(std::uint64_t bytes);

  /// Maps whole 4 KiB pages; entries that exist are replaced. Takes effect at once for pages that were not
  /// mapped before, else after `invalidate`.
  void map(unsigned space, std::uint64_t va, std::uint64_t bytes, hw::Pte leaf);
  void map_device(unsigned space, std::uint64_t va, std::uint64_t device_address, std::uint64_t bytes,
                  bool writable = true);
  void map_host(unsigned space, std::uint64_t va, const HostBuffer& buffer, bool writable = true);
  void unmap(unsigned space, std::uint64_t va, std::uint64_t bytes);
  /// Writes the entry of `va` at `level` as it is.
  void set_entry(unsigned space, std::uint64_t va, unsigned level, hw::Pte entry);
  [[nodiscard]] bool invalidate(unsigned space);

  void read_device(std::uint64_t device_address, std::span<std::byte> to);
  void write_device(std::uint64_t device_address, std::span<const std::byte> from);

  /// Of rings that are made from now on, and of waiting. nullptr: nobody looks on. Descriptors of rings that
  /// are watched all want a record.
  void watch_rings(RingWatch* watch) noexcept { ring_watch_ = watch; }

  [[nodiscard]] RingWatch* ring_watch() const noexcept { return ring_watch_; }

  /// Polls, with `relax`, until the condition holds. False after a bound that is far above what it can take.
  [[nodiscard]] bool until(const std::function<bool()>& condition);
  /// Until nothing is in flight.
  [[nodiscard]] bool until_quiescent();

  static constexpr std::uint64_t bound_ns = 20'000'000'000;

 private:
  /// Device address of the entry of `va` at `level`; makes the tables above it.
  [[nodiscard]] std::uint64_t entry_address(unsigned space, std::uint64_t va, unsigned level);
  [[nodiscard]] std::uint64_t new_table();

  board::PcieFunction& function_;
  board::Bar* registers_;
  board::Bar* aperture_;
  RingWatch* ring_watch_ = nullptr;
  std::uint64_t next_device_ = 0;
  std::uint64_t next_iova_ = 0x10000000;
};

/// Descriptors, ready but for sequence and flags.
[[nodiscard]] hw::Descriptor copy_descriptor(unsigned src_space, std::uint64_t src, unsigned dst_space,
                                             std::uint64_t dst, std::uint64_t bytes);
[[nodiscard]] hw::Descriptor fill_descriptor(unsigned space, std::uint64_t dst, std::uint64_t bytes,
                                             unsigned size_code, std::uint64_t low, std::uint64_t high = 0);
[[nodiscard]] hw::Descriptor write_value_descriptor(unsigned space, std::uint64_t dst, std::uint64_t value,
                                                    unsigned size_code = 3);
[[nodiscard]] hw::Descriptor wait_descriptor(unsigned space, std::uint64_t word, hw::WaitCondition condition,
                                             std::uint64_t value, std::uint64_t mask = ~0ULL,
                                             std::uint64_t error_mask = 0);
[[nodiscard]] hw::Descriptor timestamp_descriptor(unsigned space, std::uint64_t dst);
[[nodiscard]] hw::Descriptor plain_descriptor(hw::Opcode opcode);

}  // namespace datum::cosim
