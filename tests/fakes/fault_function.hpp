// A PCIe function of which one call fails, so that what a caller does then can be tested.
#pragma once

#include <array>
#include <atomic>
#include <cstdint>
#include <memory>
#include <mutex>
#include <optional>
#include <utility>

#include <datum/board/pcie_function.hpp>

#include "tests/fakes/forwarding_function.hpp"
#include "tests/fakes/function_call.hpp"

namespace datum::test {

/// Passes everything on, except that a chosen call of a kind is answered with an error and not passed on.
/// Safe from any thread.
class FaultFunction final : public ForwardingFunction {
 public:
  using ForwardingFunction::ForwardingFunction;

  /// The `number`-th call of `kind` from now on fails, counting from 1; with `and_all_later`, those after it
  /// too. Replaces an earlier order for the kind.
  void fail(FunctionCall kind, unsigned number, Error error, bool and_all_later = false);
  /// Forgets all orders.
  void heal();
  /// Calls of the kind so far, failed ones included.
  [[nodiscard]] unsigned calls(FunctionCall kind) const;

  /// What was mapped for the board and not unmapped.
  [[nodiscard]] std::uint64_t mapped_bytes() const noexcept { return mapped_bytes_.load(); }

  Result<board::Bar*> bar(unsigned index) override;
  Status dma_map(Iova iova, std::span<std::byte> host, board::DmaAccess access) override;
  Status dma_map_fd(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                    board::DmaAccess access) override;
  Status dma_unmap(Iova iova, std::uint64_t bytes) override;
  Result<int> interrupt_fd(unsigned vector) override;
  Result<board::WaitOutcome> wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) override;
  Status reset(board::ResetKind kind) override;
  Status health() override;
  Result<UniqueFd> export_memory(std::span<const board::DeviceRange> ranges, std::string_view label) override;
  Status end_export(std::span<const board::DeviceRange> ranges) override;

 private:
  struct Order {
    unsigned countdown = 0;  // calls until the one that fails; 0: none fails
    bool and_all_later = false;
    Error error;
  };

  /// The error that this call is to answer with, if any.
  [[nodiscard]] std::optional<Error> next(FunctionCall kind);

  mutable std::mutex mutex_;
  std::array<Order, function_call_kinds> orders_{};
  std::array<unsigned, function_call_kinds> calls_{};
  std::atomic<std::uint64_t> mapped_bytes_{0};
};

}  // namespace datum::test
