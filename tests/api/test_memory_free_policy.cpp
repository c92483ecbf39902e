// zeMemFreeExt: freeing with regard to commands in flight that use the memory.
#include <atomic>
#include <functional>
#include <thread>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

constexpr ze_driver_memory_free_policy_ext_flags_t free_at_once = 0;
constexpr ze_driver_memory_free_policy_ext_flags_t free_blocking =
    ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_BLOCKING_FREE;
constexpr ze_driver_memory_free_policy_ext_flags_t free_deferring =
    ZE_DRIVER_MEMORY_FREE_POLICY_EXT_FLAG_DEFER_FREE;

constexpr std::size_t block_bytes = 64 * 1024;

class MemoryFreePolicy : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    pool_ = create_event_pool(context(), 4);
    gate_ = create_event(pool_);
    gated_ = create_queue(context(), device());
  }

  void TearDown() override {
    zeEventHostSignal(gate_);
    if (gated_.get() != nullptr) {
      zeCommandQueueSynchronize(gated_, patience_ns);
      EXPECT_EQ(ZE_RESULT_SUCCESS, gated_.destroy());
    }
    EXPECT_EQ(ZE_RESULT_SUCCESS, gate_.destroy());
    EXPECT_EQ(ZE_RESULT_SUCCESS, pool_.destroy());
    ApiTest::TearDown();
  }

  [[nodiscard]] static ze_result_t free_with(ze_context_handle_t context, void* pointer,
                                             ze_driver_memory_free_policy_ext_flags_t policy) {
    const ze_memory_free_ext_desc_t description{ZE_STRUCTURE_TYPE_MEMORY_FREE_EXT_DESC, nullptr, policy};
    return zeMemFreeExt(context, &description, pointer);
  }

  [[nodiscard]] ze_memory_type_t type_of_pointer(const void* pointer) const {
    ze_memory_allocation_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAllocProperties(context(), pointer, &properties, nullptr));
    return properties.type;
  }

  [[nodiscard]] std::uint64_t usable() const {
    ze_device_usablemem_size_ext_properties_t found{};
    found.stype = ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES;
    ze_device_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    properties.pNext = &found;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), &properties));
    return found.currUsableMemSize;
  }

  /// Puts commands in flight that wait for the gate.
  void
  start_behind_gate(const std::function<ze_result_t(ze_command_list_handle_t, ze_event_handle_t)>& append) {
    OwnedList list = create_list(context(), device());
    ze_event_handle_t gate = gate_;
    ASSERT_EQ(ZE_RESULT_SUCCESS, append(list, gate));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
    ze_command_list_handle_t handle = list;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(gated_, 1, &handle, nullptr));
  }

  void start_copy(void* to, const void* from, std::size_t bytes) {
    start_behind_gate([=](ze_command_list_handle_t list, ze_event_handle_t gate) {
      return zeCommandListAppendMemoryCopy(list, to, from, bytes, nullptr, 1, &gate);
    });
  }

  [[nodiscard]] ze_result_t open_gate_and_wait() {
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate_));
    return zeCommandQueueSynchronize(gated_, patience_ns);
  }

  OwnedEventPool pool_;
  OwnedEvent gate_;
  OwnedQueue gated_;
};

TEST_F(MemoryFreePolicy, given_the_driver_when_asked_for_policies_then_both_are_named) {
  ze_driver_memory_free_ext_properties_t policies{};
  policies.stype = ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES;
  ze_driver_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
  properties.pNext = &policies;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDriverGetProperties(driver(), &properties));
  EXPECT_EQ(free_blocking | free_deferring, policies.freePolicies);
}

TEST_F(MemoryFreePolicy, given_wrong_arguments_when_freed_then_each_has_its_code_and_the_memory_lives) {
  OwnedMemory block = memory(MemoryKind::device, 100);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, free_with(context(), block.get(), 4));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, free_with(context(), block.get(), 0x80000001U));
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION,
            free_with(context(), block.get(), free_blocking | free_deferring))
      << "it cannot wait and not wait";
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeMemFreeExt(context(), nullptr, block.get()));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, free_with(context(), nullptr, free_blocking));
  ze_memory_free_ext_desc_t other_type{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFreeExt(context(), &other_type, block.get()));
  int on_stack = 0;
  for (const auto policy : {free_at_once, free_blocking, free_deferring}) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, free_with(context(), block.bytes() + 1, policy)) << policy;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, free_with(context(), &on_stack, policy)) << policy;
  }
  EXPECT_EQ(ZE_MEMORY_TYPE_DEVICE, type_of_pointer(block.get()));
  EXPECT_EQ(ZE_RESULT_SUCCESS, block.free());
}

TEST_F(MemoryFreePolicy, given_unused_memory_when_freed_with_any_policy_then_it_is_gone_and_comes_back) {
  const std::uint64_t before = usable();
  for (const auto policy : {free_at_once, free_blocking, free_deferring}) {
    for (const MemoryKind kind : all_memory_kinds) {
      OwnedMemory block = memory(kind, block_bytes);
      upload(block.get(), pattern(1000, 1));
      void* pointer = block.release();
      EXPECT_EQ(ZE_RESULT_SUCCESS, free_with(context(), pointer, policy)) << name_of(kind) << policy;
      EXPECT_EQ(ZE_MEMORY_TYPE_UNKNOWN, type_of_pointer(pointer)) << name_of(kind) << policy;
      EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, free_with(context(), pointer, policy)) << name_of(kind);
      EXPECT_EQ(before, usable()) << name_of(kind) << policy;
    }
  }
}

TEST_F(MemoryFreePolicy, given_a_copy_in_flight_when_its_source_is_freed_deferred_then_the_copy_is_right) {
  for (const MemoryKind kind : all_memory_kinds) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostReset(gate_));
    OwnedMemory source = memory(kind, block_bytes);
    const OwnedMemory target = memory(MemoryKind::shared, block_bytes);
    const Bytes bytes = pattern(block_bytes, 7);
    upload(source.get(), bytes);
    const std::uint64_t with_source = usable();
    start_copy(target.get(), source.get(), block_bytes);
    void* pointer = source.release();
    EXPECT_EQ(ZE_RESULT_SUCCESS, free_with(context(), pointer, free_deferring)) << name_of(kind);
    EXPECT_EQ(ZE_MEMORY_TYPE_UNKNOWN, type_of_pointer(pointer)) << name_of(kind);
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemFree(context(), pointer)) << "it is freed only once";
    EXPECT_EQ(with_source, usable()) << "the copy still needs it";
    // Memory allocated meanwhile is other memory.
    const OwnedMemory fresh = memory(kind, block_bytes);
    EXPECT_NE(pointer, fresh.get());
    upload(fresh.get(), Bytes(block_bytes, 0xee));
    EXPECT_EQ(ZE_RESULT_SUCCESS, open_gate_and_wait()) << name_of(kind) << ": " << last_error_text();
    EXPECT_TRUE(same_bytes(bytes.data(), target.get(), block_bytes)) << name_of(kind);
  }
}

TEST_F(MemoryFreePolicy, given_deferred_memory_when_its_last_command_has_ended_then_it_is_usable_again) {
  const OwnedMemory target = memory(MemoryKind::device, block_bytes);
  const std::uint64_t before = usable();
  OwnedMemory source = memory(MemoryKind::device, block_bytes);
  EXPECT_EQ(before, usable() + block_bytes);
  start_copy(target.get(), source.get(), block_bytes);
  EXPECT_EQ(ZE_RESULT_SUCCESS, free_with(context(), source.release(), free_deferring));
  EXPECT_EQ(before, usable() + block_bytes);
  EXPECT_EQ(ZE_RESULT_SUCCESS, open_gate_and_wait());
  EXPECT_EQ(before, usable());
}

TEST_F(MemoryFreePolicy,
       given_each_kind_of_command_in_flight_when_what_it_touches_is_freed_then_it_ends_well) {
  struct Case {
    const char* name;
    std::function<ze_result_t(ze_command_list_handle_t, ze_event_handle_t, unsigned char*, void*)> append;
  };

  const std::uint32_t word = 0x12345678;
  const ze_copy_region_t region{0, 0, 0, 16, 4, 2};
  const Case cases[] = {
      {"copy to",
       [](auto list, auto gate, auto* block, auto* other) {
         return zeCommandListAppendMemoryCopy(list, block + 4000, other, 200, nullptr, 1, &gate);
       }},
      {"copy from its last byte",
       [](auto list, auto gate, auto* block, auto* other) {
         return zeCommandListAppendMemoryCopy(list, other, block + block_bytes - 1, 1, nullptr, 1, &gate);
       }},
      {"fill",
       [&](auto list, auto gate, auto* block, auto*) {
         return zeCommandListAppendMemoryFill(list, block, &word, 4, block_bytes, nullptr, 1, &gate);
       }},
      {"region",
       [&](auto list, auto gate, auto* block, auto* other) {
         return zeCommandListAppendMemoryCopyRegion(list, other, &region, 64, 1024, block + 100, &region,
                                                    4096, 32768, nullptr, 1, &gate);
       }},
      {"timestamp",
       [](auto list, auto gate, auto* block, auto*) {
         return zeCommandListAppendWriteGlobalTimestamp(list, reinterpret_cast<std::uint64_t*>(block + 8192),
                                                        nullptr, 1, &gate);
       }},
  };
  const OwnedMemory other = memory(MemoryKind::shared, block_bytes);
  for (const Case& one : cases) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostReset(gate_));
    OwnedMemory block = memory(MemoryKind::device, block_bytes);
    start_behind_gate([&](ze_command_list_handle_t list, ze_event_handle_t gate) {
      return one.append(list, gate, block.bytes(), other.get());
    });
    EXPECT_EQ(ZE_RESULT_SUCCESS, free_with(context(), block.release(), free_deferring)) << one.name;
    EXPECT_EQ(ZE_RESULT_SUCCESS, open_gate_and_wait()) << one.name << ": " << last_error_text();
  }
}

TEST_F(MemoryFreePolicy,
       given_a_copy_in_flight_when_its_target_is_freed_blocking_then_it_returns_after_the_copy) {
  const std::uint64_t before = usable();
  OwnedMemory block = memory(MemoryKind::device, block_bytes);
  const OwnedMemory source = memory(MemoryKind::shared, block_bytes);
  start_copy(block.get(), source.get(), block_bytes);
  std::atomic<bool> begun{false};
  std::atomic<bool> returned{false};
  ze_result_t freed = ZE_RESULT_ERROR_UNKNOWN;
  std::thread freeing([&] {
    begun = true;
    freed = free_with(context(), block.release(), free_blocking);
    returned = true;
  });
  while (!begun) {
    std::this_thread::yield();
  }
  // Whole round trips by the board, in which a call that does not wait would have returned.
  for (int round = 0; round < 3; ++round) {
    const OwnedMemory unrelated = memory(MemoryKind::device, 4096);
    upload(unrelated.get(), pattern(4096, 3));
    EXPECT_TRUE(same_bytes(pattern(4096, 3), download(unrelated.get(), 4096)));
  }
  EXPECT_FALSE(returned);
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate_));
  freeing.join();
  EXPECT_EQ(ZE_RESULT_SUCCESS, freed);
  EXPECT_EQ(before, usable());
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(gated_, patience_ns)) << last_error_text();
}

TEST_F(MemoryFreePolicy,
       given_work_in_flight_on_other_memory_when_freed_blocking_then_it_does_not_wait_for_it) {
  const OwnedMemory from = memory(MemoryKind::device, block_bytes);
  const OwnedMemory to = memory(MemoryKind::device, block_bytes);
  start_copy(to.get(), from.get(), block_bytes);
  for (const MemoryKind kind : all_memory_kinds) {
    OwnedMemory unused = memory(kind, block_bytes);
    EXPECT_EQ(ZE_RESULT_SUCCESS, free_with(context(), unused.release(), free_blocking)) << name_of(kind);
  }
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(gate_)) << "the other work still waits";
  EXPECT_EQ(ZE_RESULT_SUCCESS, open_gate_and_wait());
}

TEST_F(MemoryFreePolicy, given_two_queues_using_memory_when_freed_deferred_then_it_stays_for_the_later_one) {
  OwnedMemory source = memory(MemoryKind::device, block_bytes);
  const Bytes bytes = pattern(block_bytes, 9);
  upload(source.get(), bytes);
  const OwnedMemory first_target = memory(MemoryKind::shared, block_bytes);
  const OwnedMemory second_target = memory(MemoryKind::shared, block_bytes);
  const OwnedEvent second_gate = create_event(pool_, 1);
  OwnedList second = create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS);
  ze_event_handle_t gate = second_gate;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(second, second_target.get(), source.get(),
                                                             block_bytes, nullptr, 1, &gate));
  start_copy(first_target.get(), source.get(), block_bytes);
  const std::uint64_t with_source = usable();
  EXPECT_EQ(ZE_RESULT_SUCCESS, free_with(context(), source.release(), free_deferring));
  EXPECT_EQ(ZE_RESULT_SUCCESS, open_gate_and_wait());
  EXPECT_EQ(with_source, usable()) << "the second copy has not run";
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(second_gate));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListHostSynchronize(second, patience_ns)) << last_error_text();
  EXPECT_EQ(with_source + block_bytes, usable());
  EXPECT_TRUE(same_bytes(bytes.data(), first_target.get(), block_bytes));
  EXPECT_TRUE(same_bytes(bytes.data(), second_target.get(), block_bytes));
  EXPECT_EQ(ZE_RESULT_SUCCESS, second.destroy());
}

TEST_F(MemoryFreePolicy,
       given_a_copy_from_another_context_when_deferred_there_then_that_context_stays_until_then) {
  OwnedContext other = create_context(driver());
  OwnedMemory source = allocate(MemoryKind::shared, other, device(), block_bytes);
  write_pattern(source.get(), block_bytes, 5);
  const OwnedMemory target = memory(MemoryKind::shared, block_bytes);
  start_behind_gate([&](ze_command_list_handle_t list, ze_event_handle_t gate) {
    return zeCommandListAppendMemoryCopyFromContext(list, target.get(), other, source.get(), block_bytes,
                                                    nullptr, 1, &gate);
  });
  EXPECT_EQ(ZE_RESULT_SUCCESS, free_with(other, source.release(), free_deferring));
  if (mode() != Mode::wrapped && !under_validation()) {
    EXPECT_EQ(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeContextDestroy(other));
  }
  EXPECT_EQ(ZE_RESULT_SUCCESS, open_gate_and_wait()) << last_error_text();
  EXPECT_TRUE(same_bytes(pattern(block_bytes, 5).data(), target.get(), block_bytes));
  EXPECT_EQ(ZE_RESULT_SUCCESS, other.destroy());
}

TEST_F(MemoryFreePolicy,
       given_memory_full_of_deferred_blocks_when_their_work_has_ended_then_it_can_be_had_again) {
  const OwnedMemory target = memory(MemoryKind::shared, 4096);
  std::vector<OwnedMemory> blocks;
  for (;;) {
    void* pointer = nullptr;
    if (allocate_raw(MemoryKind::onchip, context(), device(), 16384, 0, &pointer) != ZE_RESULT_SUCCESS) {
      break;
    }
    blocks.emplace_back(context(), pointer);
  }
  ASSERT_FALSE(blocks.empty());
  void* last = blocks.back().get();
  start_copy(target.get(), last, 4096);
  EXPECT_EQ(ZE_RESULT_SUCCESS, free_with(context(), blocks.back().release(), free_deferring));
  void* pointer = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
            allocate_raw(MemoryKind::onchip, context(), device(), 16384, 0, &pointer));
  EXPECT_EQ(ZE_RESULT_SUCCESS, open_gate_and_wait());
  EXPECT_EQ(ZE_RESULT_SUCCESS, allocate_raw(MemoryKind::onchip, context(), device(), 16384, 0, &pointer));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemFree(context(), pointer));
}

}  // namespace
}  // namespace datum::test
