// Which PCI device number a simulated board shows.
#pragma once

#include <datum/board/pcie_function.hpp>

namespace datum::sim {

/// The lowest number that no live board of this process has, given back when the board goes. Safe from any
/// thread.
class BoardNumber {
 public:
  BoardNumber() noexcept;
  ~BoardNumber();
  BoardNumber(const BoardNumber&) = delete;
  BoardNumber& operator=(const BoardNumber&) = delete;

  [[nodiscard]] board::PciAddress pci_address() const noexcept;

 private:
  unsigned number_;
};

}  // namespace datum::sim
