// Contexts: creation, destruction, status.
#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class Context : public ApiTest {
 protected:
  [[nodiscard]] ze_result_t create(ze_context_desc_t description) {
    ze_context_handle_t made = untouched;
    const ze_result_t result = zeContextCreate(driver(), &description, &made);
    if (result == ZE_RESULT_SUCCESS) {
      EXPECT_NE(untouched, made);
      EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextDestroy(made));
    } else {
      EXPECT_EQ(untouched, made) << "a failed call writes no handle";
    }
    return result;
  }

  static inline const ze_context_handle_t untouched = reinterpret_cast<ze_context_handle_t>(0x1234);
};

TEST_F(Context, given_legal_descriptors_when_created_then_it_succeeds) {
  EXPECT_EQ(ZE_RESULT_SUCCESS, create({ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0}));
  EXPECT_EQ(ZE_RESULT_SUCCESS, create({ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, ZE_CONTEXT_FLAG_TBD}));
}

TEST_F(Context, given_illegal_descriptors_when_created_then_each_has_its_code) {
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, create({ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0x2}));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create({ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0}));
  ze_context_handle_t made = nullptr;
  const ze_context_desc_t description{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeContextCreate(driver(), nullptr, &made));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeContextCreate(driver(), &description, nullptr));
}

TEST_F(Context, given_unknown_or_cyclic_extensions_when_created_then_they_are_ignored) {
  ze_base_desc_t first{static_cast<ze_structure_type_t>(0x7f00), nullptr};
  EXPECT_EQ(ZE_RESULT_SUCCESS, create({ZE_STRUCTURE_TYPE_CONTEXT_DESC, &first, 0}));
  if (!under_validation()) {
    ze_base_desc_t second{static_cast<ze_structure_type_t>(0x7f01), &first};
    first.pNext = &second;
    EXPECT_EQ(ZE_RESULT_SUCCESS, create({ZE_STRUCTURE_TYPE_CONTEXT_DESC, &first, 0}));
  }
}

TEST_F(Context, given_a_list_of_devices_when_created_then_the_context_serves_them) {
  const ze_context_desc_t description{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  ze_device_handle_t one = device();
  OwnedContext with_one;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeContextCreateEx(driver(), &description, 1, &one, with_one.address()));
  EXPECT_NE(nullptr, allocate(MemoryKind::device, with_one, device(), 100).get());

  OwnedContext with_all;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeContextCreateEx(driver(), &description, 0, nullptr, with_all.address()));
  EXPECT_NE(nullptr, allocate(MemoryKind::device, with_all, device(), 100).get());
}

TEST_F(Context, given_devices_without_an_array_when_created_then_the_size_is_invalid) {
  if (!null_arrays_reach_the_driver()) {
    GTEST_SKIP() << "the loader makes an array of its own in this mode";
  }
  const ze_context_desc_t description{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  ze_context_handle_t made = untouched;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SIZE, zeContextCreateEx(driver(), &description, 1, nullptr, &made));
  EXPECT_EQ(untouched, made);
}

TEST_F(Context, given_illegal_arguments_when_created_for_devices_then_each_has_its_code) {
  ze_context_desc_t description{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  ze_device_handle_t one = device();
  ze_context_handle_t made = untouched;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, zeContextCreateEx(driver(), nullptr, 1, &one, &made));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeContextCreateEx(driver(), &description, 1, &one, nullptr));
  description.flags = 0x2;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ENUMERATION, zeContextCreateEx(driver(), &description, 1, &one, &made));
  description = {ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 0};
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeContextCreateEx(driver(), &description, 1, &one, &made));
  EXPECT_EQ(untouched, made) << "a failed call writes no handle";
}

TEST_F(Context, given_a_power_saving_hint_when_created_then_a_percentage_is_taken) {
  ze_context_power_saving_hint_exp_desc_t hint{ZE_STRUCTURE_TYPE_POWER_SAVING_HINT_EXP_DESC, nullptr, 100};
  const ze_context_desc_t description{ZE_STRUCTURE_TYPE_CONTEXT_DESC, &hint, ZE_CONTEXT_FLAG_TBD};
  EXPECT_EQ(ZE_RESULT_SUCCESS, create(description));
  OwnedContext made;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextCreateEx(driver(), &description, 0, nullptr, made.address()));
  hint.hint = 101;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, create(description));
}

TEST_F(Context, given_a_context_with_a_queue_when_destroyed_then_it_is_in_use_and_both_live_on) {
  if (under_validation()) {
    GTEST_SKIP() << "the validation layer refuses by a code of its own";
  }
  OwnedContext other = create_context(driver());
  OwnedQueue own_queue = create_queue(other, device());
  EXPECT_EQ(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, zeContextDestroy(other));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(own_queue, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, own_queue.destroy());
  EXPECT_EQ(ZE_RESULT_SUCCESS, other.destroy());
}

TEST_F(Context, given_a_live_context_when_asked_for_its_status_then_it_is_usable) {
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeContextGetStatus(context()));
}

TEST_F(Context, given_many_contexts_when_each_allocates_and_copies_then_they_do_not_disturb_each_other) {
  constexpr std::size_t bytes = 5000;
  std::vector<OwnedContext> contexts;
  std::vector<OwnedMemory> blocks;
  for (std::uint64_t i = 0; i < 8; ++i) {
    contexts.push_back(create_context(driver()));
    blocks.push_back(allocate(MemoryKind::shared, contexts.back(), device(), bytes));
    write_pattern(blocks.back().get(), bytes, i);
  }
  for (std::uint64_t i = 0; i < 8; ++i) {
    const OwnedMemory target = allocate(MemoryKind::host, contexts[i], device(), bytes);
    const OwnedQueue own_queue = create_queue(contexts[i], device());
    const OwnedList list = create_list(contexts[i], device());
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(list, target.get(), blocks[i].get(), bytes, nullptr, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
    ze_command_list_handle_t handle = list;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(own_queue, 1, &handle, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(own_queue, patience_ns));
    EXPECT_TRUE(same_bytes(pattern(bytes, i).data(), target.get(), bytes)) << "context " << i;
  }
}

TEST_F(Context,
       given_a_context_with_live_memory_when_destroyed_then_it_is_gone_or_in_use_and_the_board_stays_usable) {
  OwnedContext other = create_context(driver());
  OwnedMemory block = allocate(MemoryKind::device, other, device(), 1 << 20);
  const ze_result_t result = zeContextDestroy(other);
  if (result == ZE_RESULT_SUCCESS) {
    static_cast<void>(block.release());  // went with its context
    static_cast<void>(other.release());
  } else {
    // The validation layer asks for children to be destroyed first.
    EXPECT_EQ(ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, result);
  }
  const OwnedMemory host = memory(MemoryKind::host, 64);
  const OwnedMemory target = memory(MemoryKind::device, 64);
  EXPECT_EQ(ZE_RESULT_SUCCESS, copy(target.get(), host.get(), 64));
}

TEST_F(Context, given_every_address_space_in_use_when_another_is_created_then_device_memory_is_out) {
  const ze_context_desc_t description{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  constexpr std::size_t more_than_a_board_has = 5000;
  std::vector<OwnedContext> contexts;
  ze_result_t result = ZE_RESULT_SUCCESS;
  ze_context_handle_t made = untouched;
  while (contexts.size() < more_than_a_board_has) {
    made = untouched;
    result = zeContextCreate(driver(), &description, &made);
    if (result != ZE_RESULT_SUCCESS) {
      break;
    }
    contexts.emplace_back(made);
  }
  EXPECT_EQ(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, result) << "after " << contexts.size() << " contexts";
  EXPECT_EQ(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY,
            zeContextCreateEx(driver(), &description, 0, nullptr, &made));
  EXPECT_EQ(untouched, made) << "a failed call writes no handle";
  ASSERT_FALSE(contexts.empty());
  EXPECT_EQ(ZE_RESULT_SUCCESS, contexts.back().destroy());
  EXPECT_EQ(ZE_RESULT_SUCCESS, create(description));
}

TEST_F(Context, given_contexts_created_and_destroyed_many_times_then_the_board_does_not_run_out_of_them) {
  for (int i = 0; i < by_board(300, 40); ++i) {
    OwnedContext other = create_context(driver());
    OwnedMemory block = allocate(MemoryKind::device, other, device(), 4096);
    ASSERT_NE(nullptr, block.get()) << "round " << i;
    ASSERT_EQ(ZE_RESULT_SUCCESS, block.free());
    ASSERT_EQ(ZE_RESULT_SUCCESS, other.destroy()) << "round " << i;
  }
}

}  // namespace
}  // namespace datum::test
