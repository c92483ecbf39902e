// A PCIe function on which mapping takes as long as a test wants.
#pragma once

#include <condition_variable>
#include <mutex>
#include <utility>

#include <datum/board/pcie_function.hpp>

namespace datum::test {

/// Passes everything on to `inner`, which outlives it; while it holds, no mapping comes back. Safe from any
/// thread.
class HeldFunction final : public board::PcieFunction {
 public:
  explicit HeldFunction(board::PcieFunction& inner) : inner_(inner) {}

  /// Mappings that are asked for from now on stay under way.
  void hold() {
    const std::lock_guard lock(mutex_);
    held_ = true;
  }

  /// Those that are under way go on, and later ones too.
  void let_go() {
    const std::lock_guard lock(mutex_);
    held_ = false;
    changed_.notify_all();
  }

  /// Returns when a mapping is under way.
  void wait_until_one_is_held() {
    std::unique_lock lock(mutex_);
    changed_.wait(lock, [&] { return waiting_ > 0; });
  }

  [[nodiscard]] const board::FunctionInfo& info() const noexcept override { return inner_.info(); }

  [[nodiscard]] const board::FunctionLimits& limits() const noexcept override { return inner_.limits(); }

  Result<board::Bar*> bar(unsigned index) override { return inner_.bar(index); }

  Status dma_map(Iova iova, std::span<std::byte> host, board::DmaAccess access) override {
    pause();
    return inner_.dma_map(iova, host, access);
  }

  Status dma_map_fd(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                    board::DmaAccess access) override {
    pause();
    return inner_.dma_map_fd(iova, fd, offset, bytes, access);
  }

  Status dma_unmap(Iova iova, std::uint64_t bytes) override { return inner_.dma_unmap(iova, bytes); }

  Result<int> interrupt_fd(unsigned vector) override { return inner_.interrupt_fd(vector); }

  Result<board::WaitOutcome> wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) override {
    return inner_.wait(vector, wake_fd, deadline_ns);
  }

  [[nodiscard]] board::Clock clock() noexcept override { return inner_.clock(); }

  Status reset(board::ResetKind kind) override { return inner_.reset(kind); }

  Status health() override { return inner_.health(); }

  std::vector<board::DmaFault> take_dma_faults() override { return inner_.take_dma_faults(); }

  Result<UniqueFd> export_memory(std::span<const board::DeviceRange> ranges,
                                 std::string_view label) override {
    return inner_.export_memory(ranges, label);
  }

  Status end_export(std::span<const board::DeviceRange> ranges) override { return inner_.end_export(ranges); }

  void relax() noexcept override { inner_.relax(); }

 private:
  void pause() {
    std::unique_lock lock(mutex_);
    ++waiting_;
    changed_.notify_all();
    changed_.wait(lock, [&] { return !held_; });
    --waiting_;
  }

  board::PcieFunction& inner_;
  std::mutex mutex_;
  std::condition_variable changed_;
  bool held_ = false;
  unsigned waiting_ = 0;
};

}  // namespace datum::test
