#include <atomic>
#include <set>
#include <sys/wait.h>
#include <thread>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include "driver/object/handle_table.hpp"
#include "driver/object/process_life.hpp"

namespace datum {
namespace {

TEST(HandleTable, given_a_registered_object_then_its_handle_finds_it_and_only_as_its_own_type) {
  int object = 0;
  HandleSlot* slot = *register_handle(ObjectType::context, &object);
  EXPECT_EQ(find_object(ObjectType::context, slot), &object);
  EXPECT_EQ(find_object(ObjectType::device, slot), nullptr);
  EXPECT_TRUE(unregister_handle(slot));
}

TEST(HandleTable, given_a_stale_handle_then_nothing_is_found_and_a_second_unregister_does_nothing) {
  int object = 0;
  HandleSlot* slot = *register_handle(ObjectType::event, &object);
  EXPECT_TRUE(unregister_handle(slot));
  EXPECT_EQ(find_object(ObjectType::event, slot), nullptr);
  EXPECT_FALSE(unregister_handle(slot));
  EXPECT_FALSE(unregister_handle(nullptr));
}

TEST(HandleTable, given_values_that_are_no_handles_then_nothing_is_found) {
  int object = 0;
  HandleSlot* slot = *register_handle(ObjectType::fence, &object);
  auto* inside = reinterpret_cast<const char*>(slot);
  for (const void* value :
       {static_cast<const void*>(nullptr), static_cast<const void*>(&object),
        static_cast<const void*>(inside + 8), static_cast<const void*>(inside - 1),
        reinterpret_cast<const void*>(~0ULL), reinterpret_cast<const void*>(0xdeadbeefULL),
        static_cast<const void*>(slot + 1'000'000)}) {
    EXPECT_EQ(find_object(ObjectType::fence, value), nullptr) << value;
    EXPECT_FALSE(is_handle_of_other_process(value)) << value;
  }
  unregister_handle(slot);
}

TEST(HandleTable, given_a_freed_slot_then_it_is_not_used_again_for_thousands_of_handles) {
  int object = 0;
  HandleSlot* stale = *register_handle(ObjectType::event, &object);
  unregister_handle(stale);
  for (unsigned index = 0; index < 4000; ++index) {
    HandleSlot* slot = *register_handle(ObjectType::event, &object);
    ASSERT_NE(slot, stale);
    unregister_handle(slot);
  }
}

TEST(HandleTable, given_many_made_and_freed_then_the_number_of_slots_stays_bounded) {
  int object = 0;
  std::set<HandleSlot*> slots;
  for (unsigned index = 0; index < 100'000; ++index) {
    HandleSlot* slot = *register_handle(ObjectType::event, &object);
    slots.insert(slot);
    unregister_handle(slot);
  }
  EXPECT_LT(slots.size(), 10'000U);
}

TEST(HandleTable, given_a_prefix_then_every_new_handle_begins_with_it) {
  ze_dditable_driver_t core{};
  ze_handle_t prefix{};
  prefix.pCore = &core;
  use_handle_prefix(prefix);
  int object = 0;
  HandleSlot* slot = *register_handle(ObjectType::event, &object);
  EXPECT_EQ(reinterpret_cast<ze_handle_t*>(slot)->pCore, &core);
  unregister_handle(slot);
  use_handle_prefix(ze_handle_t{});
}

TEST(HandleTable, given_threads_that_destroy_one_handle_then_one_of_them_may) {
  for (unsigned round = 0; round < 50; ++round) {
    int object = 0;
    HandleSlot* slot = *register_handle(ObjectType::event, &object);
    std::atomic<int> winners{0};
    std::vector<std::thread> threads;
    for (unsigned thread = 0; thread < 4; ++thread) {
      threads.emplace_back([&] { winners += unregister_handle(slot) ? 1 : 0; });
    }
    for (std::thread& thread : threads) {
      thread.join();
    }
    EXPECT_EQ(winners.load(), 1);
  }
}

TEST(HandleTable,
     given_a_forked_child_then_its_parents_handles_are_of_another_process_and_its_own_are_its_own) {
  int object = 0;
  HandleSlot* parents = *register_handle(ObjectType::context, &object);
  const std::uint32_t life = process_life();
  const pid_t child = ::fork();
  if (child == 0) {
    bool right = process_life() == 0 && forked_without_life() &&
                 find_object(ObjectType::context, parents) == nullptr && is_handle_of_other_process(parents);
    HandleSlot* own = *register_handle(ObjectType::context, &object);
    right = right && own != parents && find_object(ObjectType::context, own) == &object &&
            !is_handle_of_other_process(own) && process_life() == life + 1;
    ::_exit(right ? 0 : 1);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
  EXPECT_EQ(process_life(), life);
  EXPECT_EQ(find_object(ObjectType::context, parents), &object);
  unregister_handle(parents);
}

TEST(ProcessLock, given_a_parent_that_holds_it_when_a_child_is_forked_then_the_child_can_take_it) {
  const ProcessLock held;
  const pid_t child = ::fork();
  if (child == 0) {
    ::alarm(10);
    const ProcessLock mine;
    ::_exit(0);
  }
  int status = 0;
  ASSERT_EQ(::waitpid(child, &status, 0), child);
  EXPECT_EQ(status, 0);
}

}  // namespace
}  // namespace datum
