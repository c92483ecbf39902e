// What a new owner of memory sees of the one before.
#include <algorithm>
#include <cstring>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class FieldFree : public ApiTest {};

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
