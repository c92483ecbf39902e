// Host memory without huge pages, and what a new owner of memory sees of the one before.
#include <algorithm>
#include <cstddef>
#include <cstring>
#include <sys/prctl.h>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class FieldFree : public ApiTest {};

class FieldAlloc : public ApiTest {};

TEST_F(FieldAlloc,
       AL_10_given_no_huge_pages_when_large_and_small_host_memory_is_used_then_all_of_it_is_there) {
  ASSERT_EQ(0, ::prctl(PR_SET_THP_DISABLE, 1, 0, 0, 0));
  const std::size_t bytes = by_board<std::size_t>(16U << 20U, 4U << 20U);
  const OwnedMemory small = memory(MemoryKind::host, 5000);
  const OwnedMemory large = memory(MemoryKind::host, bytes);
  const OwnedMemory on_board = memory(MemoryKind::device, 8192);
  ASSERT_NE(nullptr, large.get());
  std::memset(large.get(), 0x37, bytes);
  EXPECT_EQ(static_cast<std::ptrdiff_t>(bytes), std::count(large.bytes(), large.bytes() + bytes, 0x37));
  for (const std::size_t at : {std::size_t{0}, (std::size_t{2} << 20U) - 2500, bytes - 5000}) {
    write_pattern(large.bytes() + at, 5000, at);
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy(on_board.get(), large.bytes() + at, 5000));
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy(small.get(), on_board.get(), 5000));
    EXPECT_TRUE(same_bytes(pattern(5000, at).data(), small.get(), 5000)) << at;
  }
  EXPECT_EQ(0, ::prctl(PR_SET_THP_DISABLE, 0, 0, 0, 0));
}

TEST_F(FieldFree, FR_03_given_host_memory_of_a_context_that_is_gone_then_the_next_context_sees_none_of_it) {
  constexpr std::size_t bytes = 8192;
  constexpr unsigned char secret = 0xa5;
  const OwnedMemory neighbour = memory(MemoryKind::host, 4096);  // keeps the piece that both contexts share
  {
    const OwnedContext other = create_context(driver());
    for (const MemoryKind kind : {MemoryKind::host, MemoryKind::shared}) {
      const OwnedMemory block = allocate(kind, other, device(), bytes);
      std::memset(block.get(), secret, bytes);
    }
  }
  std::vector<OwnedMemory> blocks;
  for (int i = 0; i < 600; ++i) {  // more than the piece has pages
    blocks.push_back(memory(MemoryKind::host, 4096));
    ASSERT_EQ(0, std::count(blocks.back().bytes(), blocks.back().bytes() + 4096, secret)) << "block " << i;
  }
}

}  // namespace
}  // namespace datum::test
