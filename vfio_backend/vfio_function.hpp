// A card as a PCIe function.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <mutex>
#include <optional>

#include <datum/base/mutex.hpp>
#include <datum/board/pcie_function.hpp>

#include "vfio_backend/address_space.hpp"
#include "vfio_backend/config_space.hpp"
#include "vfio_backend/interrupts.hpp"
#include "vfio_backend/mapping_table.hpp"
#include "vfio_backend/region_bar.hpp"

namespace datum::vfio {

/// VFIO tells nobody of IOMMU faults, so `take_dma_faults` is always empty; the kernel's log has them. A
/// register access to a card that was pulled out reads all ones; the kernel keeps the mapping until it is
/// closed, so it raises no SIGBUS, and no handler is installed. A card that the kernel asks back is closed by
/// the next `health` or `wait`, whoever still names it: it is lost, and its registers read all ones.
class VfioFunction final : public board::PcieFunction {
 public:
  /// Opens the card that `address` names. Errors: those of parse_card_address, look_up_device, check_usable,
  /// open_device and Interrupts::set_up.
  static Result<std::unique_ptr<VfioFunction>> open(Syscalls& syscalls, const CardAddress& address);
  VfioFunction(const VfioFunction&) = delete;
  VfioFunction& operator=(const VfioFunction&) = delete;
  /// Stops the card's DMA, takes its interrupts away, then frees windows, mappings and descriptors.
  ~VfioFunction() override;

  [[nodiscard]] const board::FunctionInfo& info() const noexcept override { return info_; }

  [[nodiscard]] const board::FunctionLimits& limits() const noexcept override { return limits_; }

  Result<board::Bar*> bar(unsigned index) override;
  Status dma_map(Iova iova, std::span<std::byte> host, board::DmaAccess access) override;
  Status dma_map_fd(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                    board::DmaAccess access) override;
  Status dma_unmap(Iova iova, std::uint64_t bytes) override;
  Result<int> interrupt_fd(unsigned vector) override;
  Result<board::WaitOutcome> wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) override;
  [[nodiscard]] board::Clock clock() noexcept override;
  Status reset(board::ResetKind kind) override;
  Status health() override;

  std::vector<board::DmaFault> take_dma_faults() override { return {}; }

  Result<UniqueFd> export_memory(std::span<const board::DeviceRange> ranges, std::string_view label) override;
  Status end_export(std::span<const board::DeviceRange> ranges) override;
  void relax() noexcept override;

  [[nodiscard]] KernelInterface kernel_interface() const noexcept { return space_->kind(); }

 private:
  struct Parts {
    OpenedDevice opened;
    std::array<std::unique_ptr<RegionBar>, 6> bars;
    ConfigSpace config;
    Interrupts interrupts;
  };

  VfioFunction(Syscalls& syscalls, PciDevice device, const CardAddress& address, Parts parts);
  static Result<Parts> open_parts(Syscalls& syscalls, const PciDevice& device, OpenedDevice opened);
  void describe(const CardAddress& address);
  Error lost(std::string reason) const;
  void give_up() noexcept;
  Status settle(Iova iova, Status mapped, OwnedMapping file);
  Status map_through_process(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                             board::DmaAccess access, OwnedMapping& file);

  Syscalls& syscalls_;
  PciDevice device_;
  std::unique_ptr<AddressSpace> space_;
  OwnedFd device_fd_;
  std::array<std::unique_ptr<RegionBar>, 6> bars_;
  ConfigSpace config_;
  Interrupts interrupts_;
  std::optional<unsigned> message_table_bar_;
  board::FunctionInfo info_;
  board::FunctionLimits limits_;
  MappingTable mappings_;
  Mutex reset_mutex_;
  std::once_flag asked_back_;
  std::atomic<bool> given_up_ = false;
};

}  // namespace datum::vfio
