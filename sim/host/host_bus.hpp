// The host's end of PCIe: what the board's reads and writes reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <utility>

#include "sim/board/transaction_hash.hpp"
#include "sim/host/host_watch.hpp"
#include "sim/host/interrupts.hpp"
#include "sim/host/iommu.hpp"
#include "sim/host/remote_memory.hpp"

namespace datum::sim {

/// Under the board's turn, as the Iommu is.
///
/// Where the host is another process, memory that was not handed over as a file is asked for
/// (`reach_rest_through`). Then an access may come back short because its rest is on its way: `pending` tells
/// this from a refusal, and the engine makes the same access again in one of its next turns.
class HostBus {
 public:
  HostBus(Iommu& iommu, Interrupts& interrupts, TransactionHash& hash) noexcept
      : iommu_(iommu), interrupts_(interrupts), hash_(hash) {}

  /// Transfers until the first byte that is refused, which is recorded as a DMA fault, and returns how many
  /// bytes came through.
  [[nodiscard]] std::uint64_t read(std::uint64_t iova, std::span<std::byte> to, std::uint64_t cycle);
  /// The same; an aligned write of four bytes to the message window is an interrupt whose number is the data.
  [[nodiscard]] std::uint64_t write(std::uint64_t iova, std::span<const std::byte> from, std::uint64_t cycle);

  /// Who makes the next accesses, so that the board may have several under way. Forgets `pending`.
  void set_requester(unsigned requester) noexcept {
    requester_ = requester;
    pending_ = false;
  }

  /// The last access was cut short and must be made again.
  [[nodiscard]] bool pending() const noexcept { return pending_; }

  /// Whether an access of `requester` is under way.
  [[nodiscard]] bool busy(unsigned requester) const { return remote_ != nullptr && remote_->busy(requester); }

  /// `requester` was stopped: what it gets for its next access is not older than that.
  void forget(unsigned requester) {
    if (remote_ != nullptr) {
      remote_->forget(requester);
    }
  }

  /// Whether some access was found pending since the last call.
  [[nodiscard]] bool take_waits() noexcept { return std::exchange(waits_, false); }

  /// nullptr: what is not mapped is refused.
  void reach_rest_through(RemoteMemory* remote) noexcept { remote_ = remote; }

  /// nullptr: nobody looks on.
  void watch_by(HostWatch* watch) noexcept { watch_ = watch; }

  /// A function whose bus mastering is off begins no access, interrupt messages included.
  void set_bus_master(bool on) noexcept { bus_master_ = on; }

 private:
  /// One piece of an access that no mapping of ours serves. Returns the bytes that came through.
  std::uint64_t ask(std::uint64_t iova, std::span<std::byte> to, const Iommu::Hit& hit);
  std::uint64_t ask(std::uint64_t iova, std::span<const std::byte> from, const Iommu::Hit& hit);
  [[nodiscard]] std::uint64_t piece_bytes(std::uint64_t iova, std::uint64_t bytes,
                                          const Iommu::Hit& hit) const noexcept;
  std::uint64_t outcome(RemoteMemory::Answer answer, std::uint64_t bytes) noexcept;

  void refuse(std::uint64_t iova, std::uint64_t bytes, board::DmaAccess tried, std::uint64_t cycle);

  Iommu& iommu_;
  Interrupts& interrupts_;
  TransactionHash& hash_;
  RemoteMemory* remote_ = nullptr;
  HostWatch* watch_ = nullptr;
  unsigned requester_ = 0;
  bool pending_ = false;
  bool waits_ = false;
  bool bus_master_ = true;
};

}  // namespace datum::sim
