// A board that another process serves, as a PCIe function.
#pragma once

#include <array>
#include <atomic>
#include <memory>
#include <string>

#include <datum/base/mutex.hpp>
#include <datum/board/pcie_function.hpp>

#include "vfio_backend/user/channel.hpp"
#include "vfio_backend/user/served_memory.hpp"
#include "vfio_backend/user/socket_bar.hpp"
#include "vfio_backend/user/socket_interrupts.hpp"
#include "vfio_user/capabilities.hpp"

namespace datum::vfio_user {

class UserFunction final : public board::PcieFunction {
 public:
  /// Opens "vfio-user:PATH". Errors: those of parse_server_address and connect_to_server; not_available:
  /// another client has the board; unsupported_version; unsupported_feature: what is served is no board;
  /// device_lost.
  static Result<std::unique_ptr<UserFunction>> open(std::string_view address);
  UserFunction(const UserFunction&) = delete;
  UserFunction& operator=(const UserFunction&) = delete;
  /// Closes the connection: the server takes the board down.
  ~UserFunction() override;

  [[nodiscard]] const board::FunctionInfo& info() const noexcept override { return info_; }

  [[nodiscard]] const board::FunctionLimits& limits() const noexcept override { return limits_; }

  Result<board::Bar*> bar(unsigned index) override;
  /// The board reaches such memory by asking for each access: `dma_map_fd` is the fast way.
  Status dma_map(Iova iova, std::span<std::byte> host, board::DmaAccess access) override;
  Status dma_map_fd(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                    board::DmaAccess access) override;
  Status dma_unmap(Iova iova, std::uint64_t bytes) override;
  Result<int> interrupt_fd(unsigned vector) override;
  Result<board::WaitOutcome> wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) override;
  [[nodiscard]] board::Clock clock() noexcept override;
  Status reset(board::ResetKind kind) override;
  Status health() override;
  std::vector<board::DmaFault> take_dma_faults() override;
  Result<UniqueFd> export_memory(std::span<const board::DeviceRange> ranges, std::string_view label) override;
  Status end_export(std::span<const board::DeviceRange> ranges) override;
  void relax() noexcept override;

  [[nodiscard]] std::uint64_t mapped_aperture_bytes() const noexcept {
    return bars_[2] == nullptr ? 0 : bars_[2]->mapped_bytes();
  }

 private:
  UserFunction(std::string address, std::string path)
      : address_(std::move(address)), path_(std::move(path)) {}

  Status connect();
  Status negotiate();
  Status look_at_device();
  Status look_at_regions();
  Status describe();
  Status set_bus_master(bool on);
  Status tell_mapping(Iova iova, std::uint64_t bytes, board::DmaAccess access, int fd, std::uint64_t offset);
  [[nodiscard]] Error lost(std::string_view reason) const;
  Result<std::uint32_t> read_config32(std::uint32_t offset);

  std::string address_;
  std::string path_;
  board::FunctionInfo info_;
  board::FunctionLimits limits_;
  Capabilities server_;
  std::unique_ptr<ServedMemory> memory_;            // before the channel, whose thread uses it
  std::atomic<ServedMemory*> answering_ = nullptr;  // what that thread answers from, once there is something
  std::unique_ptr<Channel> channel_;
  std::array<std::unique_ptr<SocketBar>, bar_count> bars_;
  std::unique_ptr<SocketInterrupts> interrupts_;
  Mutex mapping_mutex_;  // mapping and unmapping
};

}  // namespace datum::vfio_user
