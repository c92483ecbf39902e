// The functions of the memory chapter from many threads at once.
#include <cstdlib>
#include <cstring>
#include <sys/mman.h>
#include <utility>

#include <datum/base/mapping.hpp>

#include "tests/support/api_session.hpp"
#include "tests/support/in_threads.hpp"

namespace datum::test {
namespace {

constexpr unsigned memory_threads = 6;

class MemoryThreads : public ApiTest {
 protected:
  template <class Body>
  void in_threads(Body&& body) {
    test::in_threads(memory_threads, std::forward<Body>(body));
  }

  /// Copies through `block` on the thread's own list; empty: every byte came back.
  [[nodiscard]] static std::string round_trip(ze_command_list_handle_t list, const OwnedMemory& block,
                                              std::size_t bytes, std::uint64_t seed) {
    const Bytes in = pattern(bytes, seed);
    Bytes out(bytes);
    const ze_result_t there =
        zeCommandListAppendMemoryCopy(list, block.get(), in.data(), bytes, nullptr, 0, nullptr);
    const ze_result_t back =
        zeCommandListAppendMemoryCopy(list, out.data(), block.get(), bytes, nullptr, 0, nullptr);
    if (there != ZE_RESULT_SUCCESS || back != ZE_RESULT_SUCCESS) {
      return "copy: " + result_text(there) + ", " + result_text(back) + ": " + last_error_text();
    }
    return in == out ? "" : "other bytes came back";
  }
};

TEST_F(MemoryThreads,
       given_many_threads_when_each_uses_every_free_policy_with_work_then_all_bytes_are_right) {
  in_threads([&](unsigned index) -> std::string {
    Random random(test_seed() * 10 + index);
    const OwnedList list = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
                                                 ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
    OwnedList deferred = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS,
                                               ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
    const OwnedMemory target = memory(MemoryKind::shared, 4096);
    for (int round = 0; round < by_board(60, 6); ++round) {
      const MemoryKind kind = all_memory_kinds[random.below(5)];
      OwnedMemory block = memory(kind, 4096);
      if (std::string failure = round_trip(list, block, 4096, random.next()); !failure.empty()) {
        return failure;
      }
      if (zeCommandListAppendMemoryCopy(deferred, target.get(), block.get(), 4096, nullptr, 0, nullptr) !=
          ZE_RESULT_SUCCESS) {
        return "append";
      }
      const auto policy = static_cast<ze_driver_memory_free_policy_ext_flags_t>(1 + random.below(2));
      const ze_memory_free_ext_desc_t how{ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC, nullptr, policy};
      if (const ze_result_t freed = zeMemFreeExt(context(), &how, block.release());
          freed != ZE_RESULT_SUCCESS) {
        return "free: " + result_text(freed);
      }
    }
    return zeCommandListHostSynchronize(deferred, patience_ns) == ZE_RESULT_SUCCESS
               ? ""
               : "work on freed memory failed: " + last_error_text();
  });
}

TEST_F(MemoryThreads,
       given_many_threads_when_all_query_and_mark_one_allocation_then_each_gets_the_same_answer) {
  const OwnedMemory block = memory(MemoryKind::shared, 64 * 1024);
  in_threads([&](unsigned index) -> std::string {
    Random random(test_seed() * 10 + index);
    for (int round = 0; round < by_board(300, 60); ++round) {
      unsigned char* const inside = block.bytes() + random.below(64 * 1024);
      ze_memory_allocation_properties_t properties{};
      properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
      ze_device_handle_t owner = nullptr;
      void* base = nullptr;
      ze_memory_atomic_attr_exp_flags_t flags = 0x80;
      ze_device_usablemem_size_ext_properties_t usable{};
      usable.stype = ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES;
      ze_device_properties_t of_device{};
      of_device.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
      of_device.pNext = &usable;
      unsigned char* const own_page = block.bytes() + std::size_t{index} * 4096;
      const bool all =
          zeMemGetAllocProperties(context(), inside, &properties, &owner) == ZE_RESULT_SUCCESS &&
          properties.type == ZE_MEMORY_TYPE_SHARED && owner == device() &&
          zeMemGetAddressRange(context(), inside, &base, nullptr) == ZE_RESULT_SUCCESS &&
          base == block.get() &&
          zeMemSetAtomicAccessAttributeExp(context(), device(), own_page, 4096, index % 2) ==
              ZE_RESULT_SUCCESS &&
          zeMemGetAtomicAccessAttributeExp(context(), device(), own_page, 4096, &flags) ==
              ZE_RESULT_SUCCESS &&
          flags == index % 2 &&
          zeContextMakeMemoryResident(context(), device(), block.get(), 100) == ZE_RESULT_SUCCESS &&
          zeContextEvictMemory(context(), device(), block.get(), 100) == ZE_RESULT_SUCCESS &&
          zeContextSystemBarrier(context(), device()) == ZE_RESULT_SUCCESS &&
          zeDeviceGetProperties(device(), &of_device) == ZE_RESULT_SUCCESS && usable.currUsableMemSize > 0;
      if (!all) {
        return "an answer differs: " + last_error_text();
      }
    }
    return {};
  });
}

TEST_F(MemoryThreads,
       given_many_threads_when_each_imports_and_releases_its_own_memory_then_none_disturbs_another) {
  in_threads([&](unsigned index) -> std::string {
    const OwnedList list = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
                                                 ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
    void* base = ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    const Mapping mapped(base, 8192);
    const ze_external_memmap_sysmem_ext_desc_t system{ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC,
                                                      nullptr, base, 8192};
    const ze_host_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, &system, 0};
    for (int round = 0; round < by_board(30, 4); ++round) {
      void* pointer = nullptr;
      if (const ze_result_t code = zeMemAllocHost(context(), &description, 8192, 0, &pointer);
          code != ZE_RESULT_SUCCESS || pointer != base) {
        return "import: " + result_text(code) + ": " + last_error_text();
      }
      const OwnedMemory block(context(), pointer);
      if (std::string failure = round_trip(list, block, 8192, index * 1000 + static_cast<unsigned>(round));
          !failure.empty()) {
        return failure;
      }
    }
    return {};
  });
}

TEST_F(MemoryThreads, given_many_threads_when_all_ask_for_the_default_context_then_there_is_one) {
  std::vector<ze_context_handle_t> found(memory_threads);
  in_threads([&](unsigned index) -> std::string {
    found[index] = zeDriverGetDefaultContext(driver());
    return found[index] != nullptr ? "" : "none";
  });
  for (const ze_context_handle_t one : found) {
    EXPECT_EQ(found.front(), one);
  }
}

}  // namespace
}  // namespace datum::test
