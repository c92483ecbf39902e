// A PCIe function that passes every call on to another one, for those that change or watch some of them.
#pragma once

#include <memory>
#include <utility>

#include <datum/board/pcie_function.hpp>

namespace datum::test {

class ForwardingFunction : public board::PcieFunction {
 public:
  explicit ForwardingFunction(std::unique_ptr<board::PcieFunction> inner) : inner_(std::move(inner)) {}

  [[nodiscard]] board::PcieFunction& inner() noexcept { return *inner_; }

  [[nodiscard]] const board::FunctionInfo& info() const noexcept override { return inner_->info(); }

  [[nodiscard]] const board::FunctionLimits& limits() const noexcept override { return inner_->limits(); }

  Result<board::Bar*> bar(unsigned index) override { return inner_->bar(index); }

  Status dma_map(Iova iova, std::span<std::byte> host, board::DmaAccess access) override {
    return inner_->dma_map(iova, host, access);
  }

  Status dma_map_fd(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                    board::DmaAccess access) override {
    return inner_->dma_map_fd(iova, fd, offset, bytes, access);
  }

  Status dma_unmap(Iova iova, std::uint64_t bytes) override { return inner_->dma_unmap(iova, bytes); }

  Result<int> interrupt_fd(unsigned vector) override { return inner_->interrupt_fd(vector); }

  Result<board::WaitOutcome> wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) override {
    return inner_->wait(vector, wake_fd, deadline_ns);
  }

  [[nodiscard]] board::Clock clock() noexcept override { return inner_->clock(); }

  Status reset(board::ResetKind kind) override { return inner_->reset(kind); }

  Status health() override { return inner_->health(); }

  std::vector<board::DmaFault> take_dma_faults() override { return inner_->take_dma_faults(); }

  Result<UniqueFd> export_memory(std::span<const board::DeviceRange> ranges,
                                 std::string_view label) override {
    return inner_->export_memory(ranges, label);
  }

  Status end_export(std::span<const board::DeviceRange> ranges) override {
    return inner_->end_export(ranges);
  }

  void relax() noexcept override { inner_->relax(); }

 private:
  std::unique_ptr<board::PcieFunction> inner_;
};

}  // namespace datum::test
