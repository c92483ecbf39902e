// Who may touch which memory: the CPU, the board, the kernel on the process's behalf.
#include <cstring>

#include "tests/support/api_session.hpp"
#include "tests/support/memory_probe.hpp"

namespace datum::test {
namespace {

class MemoryAccess : public ApiTest {};

TEST_F(MemoryAccess, given_host_and_shared_memory_when_the_cpu_uses_it_then_it_behaves_like_memory) {
  for (const MemoryKind kind : {MemoryKind::host, MemoryKind::shared, MemoryKind::shared_without_device}) {
    const OwnedMemory block = memory(kind, 100'001);
    write_pattern(block.get(), 100'001, 5);
    EXPECT_TRUE(same_bytes(pattern(100'001, 5).data(), block.get(), 100'001)) << name_of(kind);
    EXPECT_TRUE(host_can_read(block.get())) << name_of(kind) << ": system calls take it";
    EXPECT_TRUE(host_can_write(block.bytes() + 100'000)) << name_of(kind);
  }
}

TEST_F(MemoryAccess, given_device_memory_when_the_host_touches_it_then_it_faults_at_once) {
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::onchip}) {
    const OwnedMemory block = memory(kind, 8192);
    for (const std::size_t offset : {0U, 1U, 4096U, 8191U}) {
      EXPECT_FALSE(host_can_read(block.bytes() + offset)) << name_of(kind) << " + " << offset;
      EXPECT_FALSE(host_can_write(block.bytes() + offset)) << name_of(kind) << " + " << offset;
    }
    EXPECT_TRUE(host_load_faults(block.get())) << name_of(kind);
  }
}

TEST_F(MemoryAccess,
       given_a_freed_host_block_when_touched_then_the_pointer_reaches_nothing_of_the_next_owner) {
  OwnedMemory first = memory(MemoryKind::host, 4096);
  auto* stale = first.bytes();
  ASSERT_EQ(ZE_RESULT_SUCCESS, first.free());
  const OwnedMemory next = memory(MemoryKind::shared, 4096);
  std::memset(next.get(), 0x11, 4096);
  if (stale != next.bytes() && host_can_read(stale)) {
    EXPECT_TRUE(host_can_write(stale));
    EXPECT_TRUE(same_bytes(Bytes(4096, 0x11).data(), next.get(), 4096));
  }
}

TEST_F(MemoryAccess, given_memory_just_allocated_when_the_board_has_written_it_then_the_cpu_sees_every_byte) {
  for (const MemoryKind kind : {MemoryKind::host, MemoryKind::shared, MemoryKind::shared_without_device}) {
    const OwnedMemory block = memory(kind, 5000);
    std::memset(block.get(), 0, 5000);
    const Bytes bytes = pattern(5000, 8);
    const OwnedMemory source = memory(MemoryKind::device, 5000);
    upload(source.get(), bytes);
    copy(block.get(), source.get(), 5000);
    EXPECT_TRUE(same_bytes(bytes.data(), block.get(), 5000)) << name_of(kind);
  }
}

TEST_F(MemoryAccess, given_many_rounds_of_fill_and_wait_when_the_cpu_looks_then_it_never_sees_an_old_byte) {
  const std::size_t bytes = by_board<std::size_t>(64 * 1024, 4096);
  const OwnedMemory block = memory(MemoryKind::host, bytes);
  for (int round = 0; round < by_board(200, 10); ++round) {
    const auto value = static_cast<unsigned char>(round);
    ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
                EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryFill(list, block.get(), &value, 1,
                                                                           bytes, nullptr, 0, nullptr));
              }));
    ASSERT_TRUE(same_bytes(Bytes(bytes, value).data(), block.get(), bytes)) << "round " << round;
  }
}

}  // namespace
}  // namespace datum::test
