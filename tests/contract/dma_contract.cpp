// What the board may reach of the host.

#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/contract/contract_board.hpp"
#include "tests/support/pattern.hpp"

namespace datum::test {

class DmaContract : public Contract {
 protected:
  static ErrorCode code(const Status& status) { return status ? ErrorCode::unknown : status.error().code; }
};

DATUM_ON_EVERY_BOARD(DmaContract);

TEST_P(DmaContract, limits_are_sorted_ranges_of_whole_pages) {
  const auto& limits = function().limits();
  EXPECT_EQ(limits.granule_bytes, 4096U);
  ASSERT_FALSE(limits.iova_ranges.empty());
  std::uint64_t after = 0;
  for (const auto& range : limits.iova_ranges) {
    EXPECT_GE(raw(range.first), after);
    EXPECT_GT(raw(range.last), raw(range.first));
    EXPECT_EQ(raw(range.first) % 4096, 0U);
    EXPECT_EQ(raw(range.last) % 4096, 4095U);
    after = raw(range.last) + 1;
  }
}

TEST_P(DmaContract, mappings_that_break_a_rule_are_refused) {
  const Mapping memory(::mmap(nullptr, 0x10000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                       0x10000);
  const auto host = memory.span();
  const auto map = [&](std::uint64_t iova, std::span<std::byte> range) {
    return function().dma_map(Iova{iova}, range, board::DmaAccess::read_write);
  };
  EXPECT_EQ(code(map(0x1001, host)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(map(0x1000, host.first(100))), ErrorCode::invalid_argument);
  EXPECT_EQ(code(map(0x1000, host.subspan(1, 4096))), ErrorCode::invalid_argument);
  EXPECT_EQ(code(map(0x1000, host.first(0))), ErrorCode::invalid_argument);
  EXPECT_EQ(code(map(0xfee00000, host)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(map(0xfedff000, host)), ErrorCode::invalid_argument);
  const std::uint64_t end = raw(function().limits().iova_ranges.back().last) + 1;
  EXPECT_EQ(code(map(end, host)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(map(0xfffffffffffff000, host)), ErrorCode::invalid_argument);
  EXPECT_TRUE(map(end - 0x10000, host));
  EXPECT_TRUE(map(0x10000, host));
  EXPECT_EQ(code(map(0x10000, host)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(map(0x1f000, host)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(map(0x1000, host)), ErrorCode::invalid_argument);
  EXPECT_TRUE(map(0x20000, host));
  EXPECT_EQ(code(function().dma_unmap(Iova{0x10000}, 0x8000)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(function().dma_unmap(Iova{0x10000}, 0x20000)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(function().dma_unmap(Iova{0x11000}, 0xf000)), ErrorCode::invalid_argument);
  EXPECT_TRUE(function().dma_unmap(Iova{0x10000}, 0x10000));
  EXPECT_EQ(code(function().dma_unmap(Iova{0x10000}, 0x10000)), ErrorCode::invalid_argument);
  EXPECT_TRUE(map(0x10000, host));
}

TEST_P(DmaContract, memory_that_the_process_cannot_access_is_refused) {
  void* const base = ::mmap(nullptr, 0x3000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const Mapping memory(base, 0x3000);
  ASSERT_EQ(::mprotect(memory.data() + 0x1000, 0x1000, PROT_NONE), 0);
  EXPECT_EQ(code(function().dma_map(Iova{0x1000}, memory.span(), board::DmaAccess::read)),
            ErrorCode::insufficient_permissions);
  ASSERT_EQ(::mprotect(memory.data() + 0x1000, 0x1000, PROT_READ), 0);
  EXPECT_EQ(code(function().dma_map(Iova{0x1000}, memory.span(), board::DmaAccess::read_write)),
            ErrorCode::insufficient_permissions);
  EXPECT_TRUE(function().dma_map(Iova{0x1000}, memory.span(), board::DmaAccess::read));
}

TEST_P(DmaContract, the_locked_memory_limit_holds) {
  open_with("locked=64K");
  EXPECT_EQ(function().limits().max_locked_bytes, 0x10000U);
  auto first = driver().host(0xc000);
  const Mapping memory(::mmap(nullptr, 0x8000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                       0x8000);
  EXPECT_EQ(code(function().dma_map(Iova{0x1000}, memory.span(), board::DmaAccess::read)),
            ErrorCode::out_of_host_memory);
  first.reset();
  EXPECT_TRUE(function().dma_map(Iova{0x1000}, memory.span(), board::DmaAccess::read));
}

TEST_P(DmaContract, a_descriptor_can_be_mapped_and_closed) {
  ASSERT_TRUE(function().limits().can_import.memfd);
  UniqueFd file(::memfd_create("contract", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), 0x4000), 0);
  const Mapping view(::mmap(nullptr, 0x4000, PROT_READ | PROT_WRITE, MAP_SHARED, file.get(), 0), 0x4000);
  EXPECT_EQ(code(function().dma_map_fd(Iova{0x1000}, file.get(), 0x3000, 0x2000, board::DmaAccess::read)),
            ErrorCode::invalid_argument);
  EXPECT_EQ(code(function().dma_map_fd(Iova{0x1000}, -1, 0, 0x1000, board::DmaAccess::read)),
            ErrorCode::invalid_argument);
  ASSERT_TRUE(function().dma_map_fd(Iova{0x1000}, file.get(), 0x1000, 0x2000, board::DmaAccess::read_write));
  file.reset();
  driver().map(
      space, host_va, 0x2000,
      hw::Pte{}.set_valid(true).set_leaf(true).set_writable(true).set_host(true).set_address_bytes(0x1000));
  TestRing ring(driver(), 0, 4, {space});
  ASSERT_TRUE(ring.wait_for(ring.submit(fill_descriptor(space, host_va + 0x800, 0x1000, 0, 0xa5))));
  EXPECT_EQ(view.data()[0x1800 - 1], std::byte{0});
  EXPECT_EQ(view.data()[0x1800], std::byte{0xa5});
  EXPECT_EQ(view.data()[0x27ff], std::byte{0xa5});
  EXPECT_EQ(view.data()[0x2800], std::byte{0});
  EXPECT_TRUE(function().dma_unmap(Iova{0x1000}, 0x2000));
}

TEST_P(DmaContract, a_file_that_is_truncated_under_the_board_fails_the_access_and_nothing_else) {
  UniqueFd file(::memfd_create("contract", MFD_CLOEXEC));
  ASSERT_EQ(::ftruncate(file.get(), 0x2000), 0);
  ASSERT_TRUE(function().dma_map_fd(Iova{0x1000}, file.get(), 0, 0x2000, board::DmaAccess::read_write));
  driver().map(
      space, host_va, 0x2000,
      hw::Pte{}.set_valid(true).set_leaf(true).set_writable(true).set_host(true).set_address_bytes(0x1000));
  ASSERT_EQ(::ftruncate(file.get(), 0), 0);
  TestRing ring(driver(), 0, 4, {space});
  ASSERT_TRUE(ring.wait_for(ring.submit(fill_descriptor(space, host_va, 0x1000, 0, 0xa5))));
  EXPECT_EQ(ring.record().status(), hw::Status::host_bus);
  EXPECT_EQ(ring.record().reason(), hw::FaultReason::bus_write);
  EXPECT_TRUE(function().health());
}

TEST_P(DmaContract, memory_that_the_application_unmapped_fails_the_access_and_nothing_else) {
  void* const base = ::mmap(nullptr, 0x2000, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const std::span<std::byte> host(static_cast<std::byte*>(base), 0x2000);
  ASSERT_TRUE(function().dma_map(Iova{0x1000}, host, board::DmaAccess::read_write));
  driver().map(
      space, host_va, 0x2000,
      hw::Pte{}.set_valid(true).set_leaf(true).set_writable(true).set_host(true).set_address_bytes(0x1000));
  driver().map_device(space, device_va, driver().device_memory(0x2000), 0x2000);
  ASSERT_EQ(::munmap(base, 0x2000), 0);
  TestRing ring(driver(), 0, 4, {space});
  ASSERT_TRUE(ring.wait_for(ring.submit(copy_descriptor(space, host_va, space, device_va, 0x2000))));
  EXPECT_EQ(ring.record().status(), hw::Status::host_bus);
  EXPECT_EQ(ring.record().reason(), hw::FaultReason::bus_read);
  EXPECT_TRUE(function().dma_unmap(Iova{0x1000}, 0x2000));
}

TEST_P(DmaContract, an_access_to_unmapped_memory_is_refused) {
  const auto iova = driver().reserve_iova(0x1000);
  driver().map(space, host_va, 0x1000,
               hw::Pte{}.set_valid(true).set_leaf(true).set_writable(true).set_host(true).set_address_bytes(
                   raw(iova)));
  TestRing ring(driver(), 0, 4, {space});
  ASSERT_TRUE(ring.wait_for(ring.submit(fill_descriptor(space, host_va + 0x40, 0x40, 0, 1))));
  EXPECT_EQ(ring.record().status(), hw::Status::host_bus);
}

TEST_P(DmaContract, a_refused_access_is_reported_once) {
  const auto iova = driver().reserve_iova(0x1000);
  driver().map(space, host_va, 0x1000,
               hw::Pte{}.set_valid(true).set_leaf(true).set_writable(true).set_host(true).set_address_bytes(
                   raw(iova)));
  EXPECT_TRUE(function().take_dma_faults().empty());
  TestRing ring(driver(), 0, 4, {space});
  ASSERT_TRUE(ring.wait_for(ring.submit(fill_descriptor(space, host_va + 0x40, 0x40, 0, 1))));
  const auto faults = function().take_dma_faults();
  ASSERT_FALSE(faults.empty());
  EXPECT_EQ(raw(faults[0].iova), raw(iova) + 0x40);
  EXPECT_EQ(faults[0].tried, board::DmaAccess::write);
  EXPECT_TRUE(function().take_dma_faults().empty());
}

TEST_P(DmaContract, a_mapping_for_reading_refuses_writes) {
  auto memory = driver().host(0x1000, board::DmaAccess::read);
  memory->set_word(0, 5);
  driver().map_host(space, host_va, *memory);
  auto target = driver().host(0x1000, board::DmaAccess::write);
  driver().map_host(space, host_va + 0x10000, *target);
  TestRing ring(driver(), 0, 4, {space});
  ASSERT_TRUE(ring.wait_for(ring.submit(copy_descriptor(space, host_va, space, host_va + 0x10000, 8))));
  EXPECT_EQ(ring.record().status(), hw::Status::ok);
  EXPECT_EQ(target->word(0), 5U);
  ASSERT_TRUE(ring.wait_for(ring.submit(fill_descriptor(space, host_va, 8, 0, 0xa5))));
  EXPECT_EQ(ring.record().reason(), hw::FaultReason::bus_write);
  EXPECT_EQ(memory->word(0), 5U);
}

TEST_P(DmaContract, a_mapping_for_writing_refuses_reads) {
  auto memory = driver().host(0x1000);
  driver().map_host(space, host_va, *memory);
  auto source = driver().host(0x1000, board::DmaAccess::write);
  driver().map_host(space, host_va + 0x10000, *source);
  TestRing ring(driver(), 0, 4, {space});
  ASSERT_TRUE(ring.wait_for(ring.submit(copy_descriptor(space, host_va + 0x10000, space, host_va, 8))));
  EXPECT_EQ(ring.record().reason(), hw::FaultReason::bus_read);
}

TEST_P(DmaContract, after_unmapping_the_board_no_longer_reaches_the_memory) {
  auto memory = driver().host(0x100000);
  driver().map_host(space, host_va, *memory);
  TestRing ring(driver(), 0, 4, {space});
  ring.submit(fill_descriptor(space, host_va, 0x100000, 0, 0xff));
  memory->unmap();
  const auto before = memory->word(0xffff8);
  memory->set_word(0xffff8, 1);
  ASSERT_TRUE(driver().until_quiescent());
  EXPECT_EQ(memory->word(0xffff8), 1U) << "was " << before << " when dma_unmap returned";
}

}  // namespace datum::test
