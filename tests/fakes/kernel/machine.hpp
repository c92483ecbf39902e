// The fake machine: what kind of kernel it runs, what is in its slots and who may do what.
#pragma once

#include <cstdint>
#include <memory>
#include <set>
#include <string>
#include <sys/resource.h>
#include <vector>

#include <datum/board/pcie_function.hpp>

#include "tests/fakes/kernel/file_tree.hpp"
#include "tests/fakes/kernel/pci_card.hpp"

namespace datum::test {

/// What a test may choose before it opens a card, or change under way.
struct KernelTraits {
  bool own_nodes = true;   ///< /dev/vfio/devices
  bool iommufd = true;     ///< /dev/iommu
  bool container = true;   ///< /dev/vfio/vfio
  bool type1_v2 = true;    ///< vfio_iommu_type1 is loaded
  bool maps_files = true;  ///< IOMMU_IOAS_MAP_FILE
  bool dma_bufs = false;   ///< VFIO_DEVICE_FEATURE_DMA_BUF
  bool interrupt_remapping = true;
  bool iova_capability = true;  ///< the container tells its ranges
  bool function_reset = true;
  bool bus_reset = true;
  bool notices = true;  ///< error and request interrupts
  std::vector<board::IovaRange> iova_ranges{{Iova{0}, Iova{0xfedfffff}},
                                            {Iova{0xfef00000}, Iova{(1ULL << 39U) - 1}}};
  std::uint64_t granule_bytes = 4096;
  std::uint64_t memlock_bytes = RLIM_INFINITY;
  bool may_lock_anything = false;  ///< CAP_IPC_LOCK
  std::uint32_t dma_entry_limit = 65535;
  unsigned vectors_left = 2048;
  std::uint64_t unmap_shortfall_bytes =
      0;  ///< unmap reports (and does) that much less: a kernel that is broken
};

/// A device in a slot, with the state that the kernel keeps for it.
struct Slot {
  std::string pci;  ///< "0000:03:00.0"
  unsigned group;
  std::string node;  ///< "vfio0"
  std::shared_ptr<PciCard> card;
  std::vector<std::uint8_t> config;
  bool gone = false;    ///< pulled out: reads all ones
  bool opened = false;  ///< by whichever way
  bool bus_master = false;
  std::vector<int> vector_fds;
  int error_fd = -1;
  int request_fd = -1;
  unsigned resets = 0;
  unsigned bus_resets = 0;
  std::vector<std::string> bus_neighbours;
};

struct Machine {
  KernelTraits traits;
  FileTree files;
  std::vector<std::unique_ptr<Slot>> slots;
  std::set<std::string> forbidden;  ///< nodes that this user may not open
  std::set<unsigned> open_groups;
  std::vector<std::string> complaints;  ///< what no well-behaved program does
  std::uint64_t locked_bytes = 0;
  unsigned live_mappings = 0;  ///< of device memory, and of files, into the process

  [[nodiscard]] Slot* slot_of_node(const std::string& node) const;
  [[nodiscard]] Slot* slot_of_address(const std::string& pci) const;
  /// By the drivers that sysfs shows.
  [[nodiscard]] bool group_is_viable(unsigned group) const;
};

/// Configuration space of a board card: ids, class, and a capability list with PCI Express and MSI-X (table
/// in BAR4).
[[nodiscard]] std::vector<std::uint8_t> board_configuration(std::uint16_t vendor, std::uint16_t device,
                                                            unsigned vectors);

/// Puts a device into sysfs: its files, driver link and group.
void add_to_sysfs(Machine& machine, const std::string& pci, unsigned group, std::uint16_t vendor,
                  std::uint16_t device, const std::string& driver);

}  // namespace datum::test
