#include <algorithm>
#include <random>

#include <gtest/gtest.h>

#include "tests/rtl/page_tables.hpp"
#include "tests/rtl/ring_driver.hpp"

namespace datum::rtl_test {
namespace {

constexpr std::uint64_t table_base = 32ULL << 20U;
constexpr std::uint64_t host_va = 0x1000'0000;
constexpr std::uint64_t device_va = 0x5000'0000;
constexpr std::uint64_t onchip_va = 0x7000'0000;
constexpr std::uint64_t host_address = 0x4'0000'0000;
constexpr std::uint64_t mapped_bytes = 4ULL << 20U;
constexpr std::uint64_t ring_address = 0x8000'0000;

std::vector<std::byte> random_bytes(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(count);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

class BoardCopy : public ::testing::Test {
 protected:
  void SetUp() override {
    ASSERT_TRUE(bench_.run_until_quiescent());
    tables_.map_range(host_va, host_address, mapped_bytes, true);
    tables_.map_range(device_va, 0, 2 * mapped_bytes, false);
    tables_.map_range(onchip_va, 0, 128ULL << 10U, false, true, 1);
    bench_.write64(hw::space_root(0), hw::SpaceRootRegister{}.set_valid(true).set_address_bytes(tables_.root()).raw);
    ring_.emplace(bench_, 0, ring_address);
  }

  void TearDown() override {
    EXPECT_TRUE(bench_.run_until_quiescent());
    EXPECT_TRUE(bench_.dram.broken_rules().empty()) << bench_.dram.broken_rules().front();
  }

  /// Cycles from doorbell to completion record.
  std::uint64_t copy_cycles(std::uint64_t dst, std::uint64_t src, std::uint64_t bytes) {
    const auto sequence = ring_->add(copy(dst, src, bytes));
    const auto start = bench_.now();
    ring_->ring_doorbell();
    EXPECT_TRUE(ring_->wait(sequence));
    EXPECT_EQ(ring_->record().status(), hw::Status::ok);
    return bench_.now() - start;
  }

  static double beats_per_cycle(std::uint64_t bytes, std::uint64_t cycles) {
    return static_cast<double>(bytes) / 64.0 / static_cast<double>(cycles);
  }

  BoardBench bench_;
  PageTables tables_{bench_.dram_memory, table_base, 1ULL << 20U};
  std::optional<RingDriver> ring_;
};

TEST_F(BoardCopy, bytes_travel_from_host_to_device_and_back) {
  const auto data = random_bytes(10'000, 1);
  bench_.host.memory.write(host_address + 5, data);
  copy_cycles(device_va + 123, host_va + 5, data.size());
  EXPECT_EQ(bench_.dram_memory.read(123, data.size()), data);
  copy_cycles(host_va + 0x10'0033, device_va + 123, data.size());
  EXPECT_EQ(bench_.host.memory.read(host_address + 0x10'0033, data.size()), data);
}

TEST_F(BoardCopy, bytes_travel_through_the_on_chip_memory) {
  const auto data = random_bytes(9'000, 2);
  bench_.host.memory.write(host_address, data);
  copy_cycles(onchip_va + 77, host_va, data.size());
  copy_cycles(device_va + 4096, onchip_va + 77, data.size());
  EXPECT_EQ(bench_.dram_memory.read(4096, data.size()), data);
}

TEST_F(BoardCopy, long_copies_keep_the_data_bus_busy) {
  constexpr std::uint64_t bytes = 1ULL << 20U;
  const auto data = random_bytes(bytes, 3);
  bench_.host.memory.write(host_address, data);
  bench_.host.latency_cycles = 128;
  const auto to_device = beats_per_cycle(bytes, copy_cycles(device_va, host_va, bytes));
  const auto inside = beats_per_cycle(2 * bytes, copy_cycles(device_va + mapped_bytes, device_va, bytes));
  const auto to_host = beats_per_cycle(bytes, copy_cycles(host_va + bytes, device_va + mapped_bytes, bytes));
  EXPECT_EQ(bench_.host.memory.read(host_address + bytes, bytes), data);
  RecordProperty("host_to_device", std::to_string(to_device));
  RecordProperty("device_to_device", std::to_string(inside));
  RecordProperty("device_to_host", std::to_string(to_host));
  EXPECT_GT(to_device, 0.90);
  EXPECT_GT(inside, 0.80);
  EXPECT_GT(to_host, 0.90);
}

}  // namespace
}  // namespace datum::rtl_test
