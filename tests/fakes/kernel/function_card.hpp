// Any PCIe function as the card in a slot: the real backend then drives a simulated board through the fake
// kernel.
#pragma once

#include <memory>

#include <datum/board/pcie_function.hpp>

#include "tests/fakes/kernel/pci_card.hpp"

namespace datum::test {

/// BARs are reached by reads and writes of the device's file, since a simulated board has nothing to map.
class FunctionCard final : public PciCard {
 public:
  explicit FunctionCard(std::unique_ptr<board::PcieFunction> function) : function_(std::move(function)) {}

  [[nodiscard]] std::array<CardBar, 6> bars() const override;

  [[nodiscard]] unsigned vectors() const override { return function_->info().vectors; }

  void read_bar(unsigned index, std::uint64_t offset, std::span<std::byte> to) override;
  void write_bar(unsigned index, std::uint64_t offset, std::span<const std::byte> from) override;
  bool mapped(Iova iova, std::span<std::byte> host, board::DmaAccess access) override;
  void unmapped(Iova iova, std::uint64_t bytes) override;
  void connect(unsigned vector, int fd) override;

  void set_bus_master(bool) override {}

  void reset() override;

  [[nodiscard]] board::PcieFunction& function() noexcept { return *function_; }

 private:
  std::unique_ptr<board::PcieFunction> function_;
};

}  // namespace datum::test
