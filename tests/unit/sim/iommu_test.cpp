// The simulated IOMMU beyond what the board contract shows.

#include <sys/mman.h>
#include <vector>

#include <gtest/gtest.h>

#include "sim/host/host_bus.hpp"

namespace datum::sim {
namespace {

class IommuTest : public ::testing::Test {
 protected:
  IommuTest()
      : memory_(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0), bytes) {}

  void map(std::uint64_t iova, std::uint64_t offset, std::uint64_t count,
           board::DmaAccess access = board::DmaAccess::read_write) {
    ASSERT_TRUE(iommu_.check(Iova{iova}, count));
    auto range = HostRange::of_caller(memory_.span().subspan(offset, count), access);
    ASSERT_TRUE(range);
    iommu_.map(Iova{iova}, std::move(range).value(), access);
  }

  static constexpr std::size_t bytes = 0x10000;
  Mapping memory_;
  Iommu iommu_{{39, 3, 0}};
  Interrupts interrupts_{4};
  TransactionHash hash_;
  HostBus bus_{iommu_, interrupts_, hash_};
};

TEST_F(IommuTest, an_access_may_run_over_neighbouring_mappings) {
  map(0x1000, 0x8000, 0x1000);
  map(0x2000, 0x0000, 0x1000);
  std::vector<std::byte> data(0x2000, std::byte{7});
  EXPECT_EQ(bus_.write(0x1000, data, 0), 0x2000U);
  EXPECT_EQ(memory_.data()[0x8fff], std::byte{7});
  EXPECT_EQ(memory_.data()[0x0fff], std::byte{7});
  EXPECT_EQ(memory_.data()[0x1000], std::byte{0});
}

TEST_F(IommuTest, an_access_that_runs_out_of_its_mapping_stops_there_and_is_reported) {
  map(0x1000, 0, 0x1000);
  std::vector<std::byte> data(0x100);
  EXPECT_EQ(bus_.read(0x1fc0, data, 99), 0x40U);
  const auto faults = iommu_.take_faults();
  ASSERT_EQ(faults.size(), 1U);
  EXPECT_EQ(raw(faults[0].iova), 0x2000U);
  EXPECT_EQ(faults[0].bytes, 0xc0U);
  EXPECT_EQ(faults[0].tried, board::DmaAccess::read);
  EXPECT_EQ(faults[0].cycle, 99U);
}

TEST_F(IommuTest, only_the_oldest_256_faults_are_kept) {
  std::byte byte{};
  for (std::uint64_t count = 0; count < 300; ++count) {
    EXPECT_EQ(bus_.read(count * 0x1000, {&byte, 1}, count), 0U);
  }
  const auto faults = iommu_.take_faults();
  ASSERT_EQ(faults.size(), 256U);
  EXPECT_EQ(faults.front().cycle, 0U);
  EXPECT_EQ(faults.back().cycle, 255U);
}

TEST_F(IommuTest, the_limit_of_mappings_holds) {
  map(0x1000, 0x0000, 0x1000);
  map(0x3000, 0x1000, 0x1000);
  map(0x5000, 0x2000, 0x1000);
  const auto status = iommu_.check(Iova{0x7000}, 0x1000);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::out_of_host_memory);
  ASSERT_TRUE(iommu_.unmap(Iova{0x3000}, 0x1000));
  EXPECT_TRUE(iommu_.check(Iova{0x7000}, 0x1000));
}

TEST_F(IommuTest, a_write_of_four_bytes_to_the_message_window_is_an_interrupt) {
  const std::uint32_t vector = 2;
  EXPECT_EQ(bus_.write(message_window_first, std::as_bytes(std::span{&vector, 1}), 0), 4U);
  EXPECT_TRUE(interrupts_.consume(2));
  EXPECT_FALSE(interrupts_.consume(2));
  const std::uint32_t none = 4;
  EXPECT_EQ(bus_.write(message_window_first, std::as_bytes(std::span{&none, 1}), 0), 4U);
  EXPECT_FALSE(interrupts_.consume(board::any_vector))
      << "a vector that the board does not have goes nowhere";
}

TEST_F(IommuTest, other_accesses_to_the_message_window_are_refused) {
  std::uint64_t word = 0;
  EXPECT_EQ(bus_.write(message_window_first, std::as_bytes(std::span{&word, 1}), 0), 0U);
  EXPECT_EQ(bus_.read(message_window_first, std::as_writable_bytes(std::span{&word, 1}).first(4), 0), 0U);
  EXPECT_EQ(iommu_.take_faults().size(), 2U);
}

TEST_F(IommuTest, the_hash_sees_cycle_address_and_data_once_it_is_enabled) {
  map(0x1000, 0, 0x1000);
  const auto hash_of = [&](std::uint64_t iova, std::uint64_t cycle, std::uint64_t value, bool enabled) {
    TransactionHash hash;
    if (enabled) {
      hash.enable();
    }
    HostBus bus(iommu_, interrupts_, hash);
    EXPECT_EQ(bus.write(iova, std::as_bytes(std::span{&value, 1}), cycle), 8U);
    return hash.value();
  };
  const auto base = hash_of(0x1000, 1, 1, true);
  EXPECT_EQ(hash_of(0x1000, 1, 1, true), base);
  EXPECT_NE(hash_of(0x1008, 1, 1, true), base);
  EXPECT_NE(hash_of(0x1000, 2, 1, true), base);
  EXPECT_NE(hash_of(0x1000, 1, 2, true), base);
  EXPECT_EQ(hash_of(0x1000, 1, 1, false), TransactionHash{}.value());
}

}  // namespace
}  // namespace datum::sim
