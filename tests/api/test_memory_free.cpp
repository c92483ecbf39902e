// zeMemFree: what may be freed, what may not, and that a refused free harms nothing.
#include <cstdlib>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class MemoryFree : public ApiTest {};

TEST_F(MemoryFree, given_a_null_pointer_when_freed_then_it_is_named) {
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeMemFree(context(), nullptr));
}

TEST_F(
    MemoryFree,
    given_pointers_that_are_no_base_of_an_allocation_when_freed_then_they_are_invalid_and_the_block_lives_on) {
  for (const MemoryKind kind : all_memory_kinds) {
    OwnedMemory block = memory(kind, 8192);
    upload(block.get(), pattern(8192, 3));
    int on_stack = 0;
    void* ordinary = std::malloc(64);
    for (void* wrong : {static_cast<void*>(block.bytes() + 1), static_cast<void*>(block.bytes() + 64),
                        static_cast<void*>(block.bytes() + 4096), static_cast<void*>(block.bytes() + 8192),
                        static_cast<void*>(block.bytes() - 1), static_cast<void*>(&on_stack), ordinary,
                        reinterpret_cast<void*>(0x10), reinterpret_cast<void*>(~std::uintptr_t{0})}) {
      EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(context(), wrong))
          << name_of(kind) << ", " << wrong;
    }
    std::free(ordinary);
    EXPECT_TRUE(same_bytes(pattern(8192, 3), download(block.get(), 8192))) << name_of(kind);
    EXPECT_EQ(ZE_RESULT_SUCCESS, block.free()) << name_of(kind);
  }
}

TEST_F(MemoryFree, given_a_freed_pointer_when_freed_again_then_it_is_invalid) {
  for (const MemoryKind kind : all_memory_kinds) {
    OwnedMemory block = memory(kind, 100);
    void* pointer = block.get();
    EXPECT_EQ(ZE_RESULT_SUCCESS, block.free());
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(context(), pointer)) << name_of(kind);
  }
}

TEST_F(MemoryFree, given_a_pointer_of_another_context_when_freed_then_it_is_invalid_and_lives_on) {
  const OwnedContext other = create_context(driver());
  for (const MemoryKind kind : all_memory_kinds) {
    OwnedMemory block = allocate(kind, other, device(), 100);
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(context(), block.get())) << name_of(kind);
    EXPECT_EQ(ZE_RESULT_SUCCESS, block.free()) << name_of(kind);
  }
}

TEST_F(MemoryFree, given_freed_memory_when_allocated_anew_then_it_is_usable_and_holds_what_is_written) {
  for (const MemoryKind kind : all_memory_kinds) {
    for (std::uint64_t round = 0; round < 5; ++round) {
      OwnedMemory block = memory(kind, 9000);
      const Bytes bytes = pattern(9000, round);
      upload(block.get(), bytes);
      ASSERT_TRUE(same_bytes(bytes, download(block.get(), bytes.size())))
          << name_of(kind) << ", round " << round;
    }
  }
}

TEST_F(MemoryFree,
       given_device_memory_of_a_destroyed_context_when_another_context_gets_it_then_the_old_bytes_are_gone) {
  constexpr std::size_t bytes = 64 * 1024;
  {
    const OwnedContext first = create_context(driver());
    const OwnedMemory secret = allocate(MemoryKind::onchip, first, device(), bytes);
    const OwnedMemory from = allocate(MemoryKind::host, first, device(), bytes);
    write_pattern(from.get(), bytes, 99);
    const OwnedQueue own_queue = create_queue(first, device());
    const OwnedList list = create_list(first, device());
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(list, secret.get(), from.get(), bytes, nullptr, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
    ze_command_list_handle_t handle = list;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(own_queue, 1, &handle, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(own_queue, patience_ns));
  }
  // The whole on-chip memory, block by block, so that whatever page the secret lay in is among them.
  const Bytes secret = pattern(bytes, 99);
  std::vector<OwnedMemory> blocks;
  for (;;) {
    void* pointer = nullptr;
    if (allocate_raw(MemoryKind::onchip, context(), device(), bytes, 0, &pointer) != ZE_RESULT_SUCCESS) {
      break;
    }
    blocks.emplace_back(context(), pointer);
  }
  ASSERT_FALSE(blocks.empty());
  for (const OwnedMemory& block : blocks) {
    const Bytes found = download(block.get(), 4096);
    for (std::size_t page = 0; page < bytes; page += 4096) {
      ASSERT_FALSE(std::equal(found.begin(), found.end(), secret.begin() + static_cast<std::ptrdiff_t>(page)))
          << "a page of another context shows through";
    }
    if (on_rtl() && &block - blocks.data() > 3) {
      break;
    }
  }
}

}  // namespace
}  // namespace datum::test
