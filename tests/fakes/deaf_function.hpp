// A board that answers but, while told so, does not hear its doorbells: work that it is given is never begun.
#pragma once

#include <atomic>
#include <memory>
#include <span>
#include <utility>

#include <datum/hw/registers.hpp>

#include "tests/fakes/forwarding_function.hpp"

namespace datum::test {

/// Passes everything on but doorbells, while told so.
class DeafBar final : public board::Bar {
 public:
  DeafBar(board::Bar& inner, std::atomic<bool>& deaf) : inner_(inner), deaf_(deaf) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return inner_.size_bytes(); }

  [[nodiscard]] std::uint32_t read32(std::uint64_t offset) noexcept override { return inner_.read32(offset); }

  [[nodiscard]] std::uint64_t read64(std::uint64_t offset) noexcept override { return inner_.read64(offset); }

  void write32(std::uint64_t offset, std::uint32_t value) noexcept override {
    const std::uint64_t apart = hw::ring_tail(2) - hw::ring_tail(1);
    const bool doorbell = offset >= hw::ring_tail(1) && (offset - hw::ring_tail(1)) % apart == 0;
    if (!deaf_.load() || !doorbell) {
      inner_.write32(offset, value);
    }
  }

  void write64(std::uint64_t offset, std::uint64_t value) noexcept override { inner_.write64(offset, value); }

  void read_block(std::uint64_t offset, std::span<std::byte> to) noexcept override {
    inner_.read_block(offset, to);
  }

  void write_block(std::uint64_t offset, std::span<const std::byte> from) noexcept override {
    inner_.write_block(offset, from);
  }

 private:
  board::Bar& inner_;
  std::atomic<bool>& deaf_;
};

/// A board with such a BAR0.
class DeafFunction final : public ForwardingFunction {
 public:
  DeafFunction(std::unique_ptr<board::PcieFunction> inner, std::atomic<bool>& deaf)
      : ForwardingFunction(std::move(inner)), deaf_(deaf) {}

  Result<board::Bar*> bar(unsigned index) override {
    Result<board::Bar*> found = ForwardingFunction::bar(index);
    if (!found || index != 0) {
      return found;
    }
    if (registers_ == nullptr) {  // who asked before keeps it
      registers_ = std::make_unique<DeafBar>(**found, deaf_);
    }
    return registers_.get();
  }

 private:
  std::atomic<bool>& deaf_;
  std::unique_ptr<DeafBar> registers_;
};

}  // namespace datum::test
