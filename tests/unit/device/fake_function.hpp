// A PCIe function whose registers a test sets and watches.
#pragma once

#include <atomic>
#include <condition_variable>
#include <cstdint>
#include <functional>
#include <map>
#include <memory>
#include <mutex>
#include <vector>

#include <datum/board/pcie_function.hpp>
#include <datum/hw/registers.hpp>

namespace datum::test {

/// Register values by offset; a write is stored, then `on_write` is called without locks.
class FakeBar final : public board::Bar {
 public:
  explicit FakeBar(std::uint64_t bytes) : words_(bytes / 4) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return words_.size() * 4; }

  [[nodiscard]] std::uint32_t read32(std::uint64_t offset) noexcept override;
  [[nodiscard]] std::uint64_t read64(std::uint64_t offset) noexcept override;
  void write32(std::uint64_t offset, std::uint32_t value) noexcept override;
  void write64(std::uint64_t offset, std::uint64_t value) noexcept override;
  void read_block(std::uint64_t offset, std::span<std::byte> to) noexcept override;
  void write_block(std::uint64_t offset, std::span<const std::byte> from) noexcept override;

  void set32(std::uint64_t offset, std::uint32_t value);
  void set64(std::uint64_t offset, std::uint64_t value);

  std::function<void(std::uint64_t offset, std::uint64_t value)> on_write;
  std::atomic<bool> dead{false};

 private:
  std::mutex mutex_;
  std::vector<std::uint32_t> words_;
};

/// Starts as a board of four rings that any driver would take.
class FakeFunction final : public board::PcieFunction {
 public:
  FakeFunction();

  [[nodiscard]] const board::FunctionInfo& info() const noexcept override { return info_; }

  [[nodiscard]] const board::FunctionLimits& limits() const noexcept override { return limits_; }

  Result<board::Bar*> bar(unsigned index) override;

  Status dma_map(Iova, std::span<std::byte>, board::DmaAccess) override { return {}; }

  Status dma_map_fd(Iova, int, std::uint64_t, std::uint64_t, board::DmaAccess) override { return {}; }

  Status dma_unmap(Iova, std::uint64_t) override { return {}; }

  Result<int> interrupt_fd(unsigned) override { return make_error(ErrorCode::not_available, "none"); }

  Result<board::WaitOutcome> wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) override;
  [[nodiscard]] board::Clock clock() noexcept override;

  /// Lifts a loss, as the seam says.
  Status reset(board::ResetKind kind) override {
    if (!(kind == board::ResetKind::hot ? has_hot_reset : has_function_reset)) {
      return make_error(ErrorCode::unsupported_feature, "the fake board has no such reset");
    }
    lost_ = false;
    ++resets;
    return {};
  }

  Status health() override;

  std::vector<board::DmaFault> take_dma_faults() override { return {}; }

  Result<UniqueFd> export_memory(std::span<const board::DeviceRange>, std::string_view) override {
    return make_error(ErrorCode::unsupported_feature, "none");
  }

  Status end_export(std::span<const board::DeviceRange>) override {
    return make_error(ErrorCode::unsupported_feature, "none");
  }

  void relax() noexcept override { ++relax_calls; }

  /// As if the board raised a vector.
  void raise();
  void lose();

  std::shared_ptr<FakeBar> registers;
  std::shared_ptr<FakeBar> aperture;
  std::atomic<std::uint64_t> relax_calls{0};
  std::atomic<std::uint64_t> wait_calls{0};
  std::atomic<bool> stepped{false};             ///< waits answer `quiescent`, the clock stands
  std::atomic<unsigned> wait_scale{1};          ///< how much slower than a card the board says that it is
  std::atomic<std::uint64_t> clock_step_ns{0};  ///< not 0: each look at the clock moves it on by this
  std::atomic<bool> has_function_reset{true};
  std::atomic<bool> has_hot_reset{true};
  std::atomic<unsigned> resets{0};
  unsigned vectors = 6;

 private:
  board::FunctionInfo info_;
  board::FunctionLimits limits_;
  std::atomic<std::uint64_t> own_clock_ns_{0};
  std::atomic<bool> lost_{false};
  UniqueFd interrupts_;
};

}  // namespace datum::test
