// Boards that agree, and one with a bug: long fills get a wrong pattern.

#include <map>
#include <memory>

#include <gtest/gtest.h>

#include "cosim/comparison.hpp"
#include "sim/backend.hpp"
#include "tests/fakes/forwarding_function.hpp"

namespace datum::cosim {
namespace {

constexpr std::uint64_t long_bytes = 700;

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

class SpoilingFunction final : public test::ForwardingFunction {
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

std::unique_ptr<board::PcieFunction> open(const char* address) {
  auto opened = sim::open_simulated(address);
  EXPECT_TRUE(opened) << (opened ? "" : opened.error().message);
  return std::move(opened).value();
}

TEST(Comparison, of_boards_that_agree_finds_nothing) {
  const auto one = open("model:step,memory=16M,channels=1");
  const auto other = open("model:memory=64M");
  board::PcieFunction* const boards[] = {one.get(), other.get()};
  for (std::uint64_t seed = 1; seed <= 20; ++seed) {
    const auto finding = compare(make_program(seed), boards, false);
    EXPECT_FALSE(finding) << describe(*finding);
  }
}

TEST(Comparison, finds_a_bug_and_makes_it_small) {
  const auto good = open("model:step,memory=16M");
  SpoilingFunction bad(open("model:step,memory=32M"));
  board::PcieFunction* const boards[] = {good.get(), &bad};
  std::optional<Finding> finding;
  for (std::uint64_t seed = 1; seed <= 200 && !finding; ++seed) {
    finding = compare(make_program(seed), boards, true);
  }
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->board, "model:step,memory=32M");
  ASSERT_EQ(finding->shortest.operations.size(), 1U) << describe(*finding);
  const Operation& operation = finding->shortest.operations.front();
  EXPECT_EQ(operation.kind, Kind::fill);
  EXPECT_GT(operation.bytes, long_bytes);
  ASSERT_TRUE(finding->place) << describe(*finding);
  EXPECT_EQ(finding->place->operation, 0U);
  EXPECT_EQ(finding->place->descriptor.opcode(), hw::Opcode::fill);
  EXPECT_EQ(finding->place->difference.found, finding->place->difference.expected | 1U);
  EXPECT_EQ(finding->place->difference.spot.offset, operation.to.offset);
  EXPECT_LT(finding->place->first_cycle, finding->place->last_cycle);
  EXPECT_NE(describe(*finding).find("operation 0 goes wrong"), std::string::npos) << describe(*finding);
}

TEST(Comparison, tells_a_board_that_does_not_answer) {
  class Dead final : public test::ForwardingFunction {
   public:
    using ForwardingFunction::ForwardingFunction;

    Status health() override { return make_error(ErrorCode::device_lost, "gone"); }

    Status reset(board::ResetKind) override { return make_error(ErrorCode::device_lost, "gone for good"); }
  };

  Dead dead(open("model:step,memory=16M"));
  board::PcieFunction* const boards[] = {&dead};
  const auto finding = compare(make_program(1), boards, false);
  ASSERT_TRUE(finding);
  EXPECT_EQ(finding->failure, "gone for good");
  EXPECT_FALSE(finding->place);
}

}  // namespace
}  // namespace datum::cosim
