// A small card of the tests' own: a few registers, a memory, one DMA engine, interrupts.
#pragma once

#include <map>
#include <vector>

#include <datum/base/unique_fd.hpp>

#include "tests/fakes/kernel/pci_card.hpp"

namespace datum::test {

class RegisterCard : public PciCard {
 public:
  // Registers of BAR0. Its first page has MAGIC and APERTURE_FIXED_BYTES where a board has them.
  static constexpr std::uint64_t scratch = 0x1008;      ///< 64 bits
  static constexpr std::uint64_t raise = 0x1010;        ///< writing n raises vector n
  static constexpr std::uint64_t source = 0x1020;       ///< IOVA, 64 bits
  static constexpr std::uint64_t destination = 0x1028;  ///< IOVA, 64 bits
  static constexpr std::uint64_t length = 0x1030;
  static constexpr std::uint64_t go = 0x1038;       ///< writing starts the copy
  static constexpr std::uint64_t outcome = 0x103c;  ///< of the copy, one of the following

  static constexpr std::uint32_t copied = 1;
  static constexpr std::uint32_t source_refused = 2;
  static constexpr std::uint32_t destination_refused = 3;
  static constexpr std::uint32_t not_bus_master = 4;

  static constexpr std::uint64_t register_bytes = 0x10000;
  static constexpr std::uint64_t memory_bytes = 0x100000;

  struct Shape {
    bool registers_in_memory =
        false;  ///< BAR0 may be mapped; it is plain memory then and nothing happens on writes
    std::vector<CardBar::Area> sparse{};  ///< of BAR2
    bool memory_mapped = true;            ///< BAR2 may be mapped
    unsigned vectors = 4;
    bool has_bar2 = true;
  };

  RegisterCard();
  explicit RegisterCard(Shape shape);
  ~RegisterCard() override;

  [[nodiscard]] std::array<CardBar, 6> bars() const override;

  [[nodiscard]] unsigned vectors() const override { return shape_.vectors; }

  void read_bar(unsigned index, std::uint64_t offset, std::span<std::byte> to) override;
  void write_bar(unsigned index, std::uint64_t offset, std::span<const std::byte> from) override;
  bool mapped(Iova iova, std::span<std::byte> host, board::DmaAccess access) override;
  void unmapped(Iova iova, std::uint64_t bytes) override;
  void connect(unsigned vector, int fd) override;

  void set_bus_master(bool on) override { bus_master_ = on; }

  void reset() override;

  // For tests.
  [[nodiscard]] std::byte* registers() const noexcept { return registers_; }

  [[nodiscard]] std::byte* memory() const noexcept { return memory_; }

  [[nodiscard]] std::size_t mapping_count() const noexcept { return mappings_.size(); }

  [[nodiscard]] bool bus_master() const noexcept { return bus_master_; }

  /// Accesses that came through the kernel and not through a mapping: sizes in bytes, in order.
  std::vector<std::size_t> file_accesses;
  void raise_vector(unsigned vector) const;

 private:
  struct Mapped {
    std::span<std::byte> host;
    board::DmaAccess access;
  };

  [[nodiscard]] std::byte* reach(std::uint64_t iova, std::uint64_t bytes, board::DmaAccess wanted) const;
  [[nodiscard]] std::uint32_t copy() const;
  template <class Word>
  [[nodiscard]] Word value(std::uint64_t offset) const;

  Shape shape_;
  UniqueFd register_file_;
  UniqueFd memory_file_;
  std::byte* registers_ = nullptr;
  std::byte* memory_ = nullptr;
  std::vector<int> vector_fds_;
  std::map<std::uint64_t, Mapped> mappings_;
  bool bus_master_ = false;
};

}  // namespace datum::test
