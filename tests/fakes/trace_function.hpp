// A PCIe function that remembers what was asked of it.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <mutex>
#include <string>
#include <vector>

#include <datum/board/pcie_function.hpp>

#include "tests/fakes/forwarding_function.hpp"

namespace datum::test {

/// One call and how it was answered. What the numbers mean depends on the call, as its fields say.
struct TracedCall {
  enum class Kind : std::uint8_t {
    read32,
    read64,
    write32,
    write64,
    read_block,
    write_block,
    bar,
    dma_map,
    dma_map_fd,
    dma_unmap,
    interrupt_fd,
    wait,
    reset,
    health,
    take_dma_faults,
    export_memory,
    end_export,
  };

  Kind kind = Kind::bar;
  unsigned bar = 0;           ///< of a register access; index asked for
  std::uint64_t address = 0;  ///< offset in the BAR, IOVA, device address, vector
  std::uint64_t bytes = 0;    ///< of a block, mapping or export (all its ranges)
  std::uint64_t value = 0;    ///< read or written
  bool ok = true;
  ErrorCode error = ErrorCode::unknown;  ///< when not ok

  friend bool operator==(const TracedCall&, const TracedCall&) = default;
};

/// Passes everything on. Safe from any thread; calls stand in the order in which they were answered.
class TraceFunction final : public ForwardingFunction {
 public:
  explicit TraceFunction(std::unique_ptr<board::PcieFunction> inner);
  ~TraceFunction() override;

  [[nodiscard]] std::vector<TracedCall> calls() const;
  /// The calls so far, which are forgotten.
  [[nodiscard]] std::vector<TracedCall> take();

  Result<board::Bar*> bar(unsigned index) override;
  Status dma_map(Iova iova, std::span<std::byte> host, board::DmaAccess access) override;
  Status dma_map_fd(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                    board::DmaAccess access) override;
  Status dma_unmap(Iova iova, std::uint64_t bytes) override;
  Result<int> interrupt_fd(unsigned vector) override;
  Result<board::WaitOutcome> wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) override;
  Status reset(board::ResetKind kind) override;
  Status health() override;
  std::vector<board::DmaFault> take_dma_faults() override;
  Result<UniqueFd> export_memory(std::span<const board::DeviceRange> ranges, std::string_view label) override;
  Status end_export(std::span<const board::DeviceRange> ranges) override;

 private:
  class TracedBar;

  void record(TracedCall call);
  template <class T>
  Result<T> record(TracedCall call, Result<T> result);

  mutable std::mutex mutex_;
  std::vector<TracedCall> calls_;
  std::array<std::unique_ptr<TracedBar>, 6> bars_;
};

}  // namespace datum::test
