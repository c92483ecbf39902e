// A board with a bug: long fills get a wrong pattern.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <span>

#include <datum/hw/registers.hpp>

#include "tests/fakes/forwarding_function.hpp"

namespace datum::test {

inline constexpr std::uint64_t long_bytes = 700;

/// BAR0 before the board: spoils descriptors when their doorbell is rung.
class SpoilingBar final : public board::Bar {
 public:
  SpoilingBar(board::Bar& inner, const std::map<std::uint64_t, std::span<std::byte>>& host)
      : inner_(inner), host_(host) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return inner_.size_bytes(); }

  [[nodiscard]] std::uint32_t read32(std::uint64_t offset) noexcept override { return inner_.read32(offset); }

  [[nodiscard]] std::uint64_t read64(std::uint64_t offset) noexcept override { return inner_.read64(offset); }

  void write32(std::uint64_t offset, std::uint32_t value) noexcept override {
    for (std::uint32_t ring = 0; ring < hw::ring_page_block_count; ++ring) {
      if (offset == hw::ring_tail(ring)) {
        spoil(inner_.read64(hw::ring_base(ring)));
      }
    }
    inner_.write32(offset, value);
  }

  void write64(std::uint64_t offset, std::uint64_t value) noexcept override { inner_.write64(offset, value); }

  void read_block(std::uint64_t offset, std::span<std::byte> to) noexcept override {
    inner_.read_block(offset, to);
  }

  void write_block(std::uint64_t offset, std::span<const std::byte> from) noexcept override {
    inner_.write_block(offset, from);
  }

 private:
  /// Descriptors that the board has taken already do not mind.
  void spoil(std::uint64_t ring_base) noexcept {
    const auto memory = host_.find(ring_base);
    if (memory == host_.end()) {
      return;
    }
    auto* const descriptors = reinterpret_cast<hw::Descriptor*>(memory->second.data());
    for (std::size_t slot = 0; slot < memory->second.size() / sizeof(hw::Descriptor); ++slot) {
      hw::Descriptor& descriptor = descriptors[slot];
      if (descriptor.opcode() == hw::Opcode::fill && descriptor.bytes() > long_bytes) {
        descriptor.set_pattern_low(descriptor.pattern_low() | 1U);
      }
    }
  }

  board::Bar& inner_;
  const std::map<std::uint64_t, std::span<std::byte>>& host_;
};

class SpoilingFunction final : public ForwardingFunction {
 public:
  using ForwardingFunction::ForwardingFunction;

  Result<board::Bar*> bar(unsigned index) override {
    auto found = inner().bar(index);
    if (!found || index != 0) {
      return found;
    }
    if (bar_ == nullptr) {
      bar_ = std::make_unique<SpoilingBar>(**found, host_);
    }
    return bar_.get();
  }

  Status dma_map(Iova iova, std::span<std::byte> host, board::DmaAccess access) override {
    host_[raw(iova)] = host;
    return inner().dma_map(iova, host, access);
  }

  Status dma_unmap(Iova iova, std::uint64_t bytes) override {
    host_.erase(raw(iova));
    return inner().dma_unmap(iova, bytes);
  }

 private:
  std::map<std::uint64_t, std::span<std::byte>> host_;
  std::unique_ptr<SpoilingBar> bar_;
};

}  // namespace datum::test
