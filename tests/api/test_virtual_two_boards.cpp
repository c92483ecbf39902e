// Virtual memory of a context with two boards.
#include "tests/api/virtual_memory_test.hpp"

namespace datum::test {
namespace {

class VirtualTwoBoards : public VirtualTest {
 protected:
  void SetUp() override {
    if (mode() != Mode::two_boards) {
      GTEST_SKIP() << "needs two boards";
    }
    VirtualTest::SetUp();
  }

  [[nodiscard]] ze_result_t copy_on(std::size_t board, void* to, const void* from, std::size_t bytes) const {
    const OwnedList list =
        create_immediate_list(context(), session().devices[board], ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
    return zeCommandListAppendMemoryCopy(list, to, from, bytes, nullptr, 0, nullptr);
  }
};

TEST_F(VirtualTwoBoards, given_host_memory_that_is_mapped_then_both_boards_use_it_until_it_is_unmapped) {
  const OwnedPhysical object = physical(page, in_host);
  const OwnedMemory block = memory(MemoryKind::host, page);
  const OwnedReservation range = reserve(page);
  ASSERT_EQ(ZE_RESULT_SUCCESS, map(range.at(), page, object));
  write_pattern(block.get(), page, 1);
  EXPECT_EQ(ZE_RESULT_SUCCESS, copy_on(0, range.at(), block.get(), page));
  EXPECT_TRUE(same_bytes(block.get(), range.at(), page));
  write_pattern(block.get(), page, 2);
  EXPECT_EQ(ZE_RESULT_SUCCESS, copy_on(1, range.at(), block.get(), page));
  EXPECT_TRUE(same_bytes(block.get(), range.at(), page));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemSetAccessAttribute(context(), range.at(), page, read_only));
  for (const std::size_t board : {0U, 1U}) {
    EXPECT_EQ(ZE_RESULT_ERROR_UNKNOWN, copy_on(board, range.at(), block.get(), page)) << board;
  }
}

TEST_F(VirtualTwoBoards, given_a_context_of_one_board_when_the_other_is_named_then_the_argument_is_invalid) {
  const ze_context_desc_t description{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  ze_device_handle_t first = session().devices[0];
  OwnedContext only_first;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeContextCreateEx(driver(), &description, 1, &first, only_first.address()));
  std::size_t size = 7;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeVirtualMemQueryPageSize(only_first, session().devices[1], page, &size));
  EXPECT_EQ(7U, size);
  ze_physical_mem_desc_t wanted{ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, nullptr, 0, page};
  ze_physical_mem_handle_t handle = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zePhysicalMemCreate(only_first, session().devices[1], &wanted, &handle));
}

}  // namespace
}  // namespace datum::test
