// Counts what is mapped for the board, beneath everything else.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <utility>

#include <datum/board/pcie_function.hpp>

#include "tests/fakes/forwarding_function.hpp"

namespace datum::test {

/// dma_map calls, and the bytes that are mapped now.
struct MappingCount {
  std::atomic<std::int64_t> live_bytes{0};
  std::atomic<std::uint64_t> maps{0};
};

class CountingFunction final : public ForwardingFunction {
 public:
  CountingFunction(std::unique_ptr<board::PcieFunction> inner, std::shared_ptr<MappingCount> count)
      : ForwardingFunction(std::move(inner)), count_(std::move(count)) {}

  Status dma_map(Iova iova, std::span<std::byte> host, board::DmaAccess access) override {
    Status mapped = ForwardingFunction::dma_map(iova, host, access);
    if (mapped) {
      count_->live_bytes += static_cast<std::int64_t>(host.size());
      ++count_->maps;
    }
    return mapped;
  }

  Status dma_map_fd(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                    board::DmaAccess access) override {
    Status mapped = ForwardingFunction::dma_map_fd(iova, fd, offset, bytes, access);
    if (mapped) {
      count_->live_bytes += static_cast<std::int64_t>(bytes);
      ++count_->maps;
    }
    return mapped;
  }

  Status dma_unmap(Iova iova, std::uint64_t bytes) override {
    Status unmapped = ForwardingFunction::dma_unmap(iova, bytes);
    if (unmapped) {
      count_->live_bytes -= static_cast<std::int64_t>(bytes);
    }
    return unmapped;
  }

 private:
  std::shared_ptr<MappingCount> count_;
};

}  // namespace datum::test
