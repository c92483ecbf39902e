#include "tests/rtl/copy_setup.hpp"

#include <algorithm>
#include <random>

namespace datum::rtl_test {

std::vector<std::byte> random_bytes(std::size_t count, std::uint32_t seed) {
  std::mt19937 random(seed);
  std::vector<std::byte> bytes(count);
  std::generate(bytes.begin(), bytes.end(), [&] { return static_cast<std::byte>(random()); });
  return bytes;
}

void CopySetup::SetUp() {
  ASSERT_TRUE(bench_.run_until_quiescent());
  tables_.map_range(host_va, host_address, mapped_bytes, true);
  tables_.map_range(device_va, 0, 2 * mapped_bytes, false);
  tables_.map_range(onchip_va, 0, 128ULL << 10U, false, true, 1);
  map_spaces();
  ring_.emplace(bench_, 0, ring_address);
}

void CopySetup::map_spaces() {
  bench_.write64(hw::space_root(0),
                 hw::SpaceRootRegister{}.set_valid(true).set_address_bytes(tables_.root()).raw);
}

void CopySetup::TearDown() {
  EXPECT_TRUE(bench_.run_until_quiescent());
  EXPECT_TRUE(bench_.dram.broken_rules().empty()) << bench_.dram.broken_rules().front();
}

std::uint64_t CopySetup::copy_cycles(std::uint64_t dst, std::uint64_t src, std::uint64_t bytes) {
  const auto sequence = ring_->add(copy(dst, src, bytes));
  const auto start = bench_.now();
  ring_->ring_doorbell();
  EXPECT_TRUE(ring_->wait(sequence));
  EXPECT_EQ(ring_->record().status(), hw::Status::ok);
  return bench_.now() - start;
}

}  // namespace datum::rtl_test
