// Many threads at once: allocation, queries and copies need no lock of the application's.
#include <cstring>
#include <utility>

#include "tests/support/api_session.hpp"
#include "tests/support/in_threads.hpp"

namespace datum::test {
namespace {

constexpr unsigned list_threads = 8;

class Threads : public ApiTest {
 protected:
  template <class Body>
  void in_threads(Body&& body) {
    test::in_threads(list_threads, std::forward<Body>(body));
  }

  /// What one thread does with memory: allocate, look, write, free, over and over.
  [[nodiscard]] std::string churn(ze_context_handle_t context, unsigned index, int rounds) const {
    Random random(test_seed() * 100 + index);
    std::vector<std::pair<OwnedMemory, std::size_t>> live;
    for (int round = 0; round < rounds; ++round) {
      const MemoryKind kind = all_memory_kinds[random.below(5)];
      // On-chip memory is small: a page for each live block of all threads fits.
      const std::size_t bytes = random.between(1, kind == MemoryKind::onchip ? 4096 : 9000);
      void* pointer = nullptr;
      if (const auto result = allocate_raw(kind, context, device(), bytes, 0, &pointer);
          result != ZE_RESULT_SUCCESS) {
        return "allocation: " + result_text(result);
      }
      live.emplace_back(OwnedMemory(context, pointer), bytes);
      if (host_accessible(kind)) {
        std::memset(pointer, static_cast<int>(index), bytes);
      }
      const auto& [block, size] = live[random.below(live.size())];
      void* base = nullptr;
      std::size_t found = 0;
      if (zeMemGetAddressRange(context, block.bytes() + random.below(size), &base, &found) !=
              ZE_RESULT_SUCCESS ||
          base != block.get() || found != size) {
        return "a live block is not found";
      }
      if (host_accessible(kind)) {
        for (std::size_t i = 0; i < bytes; i += 97) {
          if (static_cast<unsigned char*>(pointer)[i] != index) {
            return "another thread's bytes in a live block";
          }
        }
      }
      if (live.size() > 20) {
        const std::size_t victim = random.below(live.size());
        if (live[victim].first.free() != ZE_RESULT_SUCCESS) {
          return "free failed";
        }
        live.erase(live.begin() + static_cast<std::ptrdiff_t>(victim));
      }
    }
    return {};
  }
};

TEST_F(Threads, given_one_context_when_eight_threads_allocate_and_free_then_no_block_is_anothers) {
  in_threads([&](unsigned index) { return churn(context(), index, by_board(500, 100)); });
}

TEST_F(Threads, given_a_context_for_each_when_eight_threads_allocate_and_free_then_no_block_is_anothers) {
  std::vector<OwnedContext> contexts;
  for (unsigned i = 0; i < list_threads; ++i) {
    contexts.push_back(create_context(driver()));
  }
  in_threads([&](unsigned index) { return churn(contexts[index], index, by_board(500, 100)); });
}

TEST_F(Threads, given_a_queue_for_each_when_eight_threads_copy_then_every_byte_arrives) {
  const std::size_t bytes = by_board<std::size_t>(20'000, 2000);
  std::vector<OwnedQueue> queues;
  std::vector<OwnedList> lists;
  std::vector<OwnedMemory> blocks;
  for (unsigned i = 0; i < list_threads; ++i) {
    queues.push_back(create_queue(context(), device()));
    lists.push_back(create_list(context(), device()));
    blocks.push_back(memory(MemoryKind::device, bytes));
  }
  in_threads([&](unsigned index) -> std::string {
    Bytes out(bytes);
    for (int round = 0; round < by_board(30, 3); ++round) {
      const Bytes in = pattern(bytes, index * 1000 + static_cast<unsigned>(round));
      const ze_command_list_handle_t list = lists[index];
      ze_command_list_handle_t handle = list;
      if (zeCommandListReset(list) != ZE_RESULT_SUCCESS ||
          zeCommandListAppendMemoryCopy(list, blocks[index].get(), in.data(), bytes, nullptr, 0, nullptr) !=
              ZE_RESULT_SUCCESS ||
          zeCommandListAppendBarrier(list, nullptr, 0, nullptr) != ZE_RESULT_SUCCESS ||
          zeCommandListAppendMemoryCopy(list, out.data(), blocks[index].get(), bytes, nullptr, 0, nullptr) !=
              ZE_RESULT_SUCCESS ||
          zeCommandListClose(list) != ZE_RESULT_SUCCESS) {
        return "recording failed";
      }
      if (const auto result = zeCommandQueueExecuteCommandLists(queues[index], 1, &handle, nullptr);
          result != ZE_RESULT_SUCCESS) {
        return "execution: " + result_text(result);
      }
      if (const auto result = zeCommandQueueSynchronize(queues[index], patience_ns);
          result != ZE_RESULT_SUCCESS) {
        return "wait: " + result_text(result);
      }
      if (in != out) {
        return "wrong bytes in round " + std::to_string(round);
      }
    }
    return {};
  });
}

TEST_F(Threads, given_one_queue_when_eight_threads_execute_on_it_then_all_their_work_is_done) {
  const OwnedMemory block = memory(MemoryKind::shared, list_threads * 64);
  std::memset(block.get(), 0, list_threads * 64);
  std::vector<OwnedList> lists;
  for (unsigned i = 0; i < list_threads; ++i) {
    const auto value = static_cast<unsigned char>(i + 1);
    lists.push_back(create_list(context(), device()));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryFill(lists[i], block.bytes() + i * 64, &value, 1,
                                                               64, nullptr, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(lists[i]));
  }
  const ze_command_queue_handle_t one = queue();
  in_threads([&](unsigned index) -> std::string {
    ze_command_list_handle_t handle = lists[index];
    for (int round = 0; round < by_board(50, 5); ++round) {
      if (const auto result = zeCommandQueueExecuteCommandLists(one, 1, &handle, nullptr);
          result != ZE_RESULT_SUCCESS) {
        return "execution: " + result_text(result);
      }
      if (const auto result = zeCommandQueueSynchronize(one, patience_ns); result != ZE_RESULT_SUCCESS) {
        return "wait: " + result_text(result);
      }
    }
    return {};
  });
  for (unsigned i = 0; i < list_threads; ++i) {
    EXPECT_TRUE(same_bytes(Bytes(64, static_cast<unsigned char>(i + 1)).data(), block.bytes() + i * 64, 64))
        << "thread " << i;
  }
}

TEST_F(
    Threads,
    given_live_blocks_when_eight_threads_ask_about_them_while_others_come_and_go_then_every_answer_is_right) {
  std::vector<OwnedMemory> blocks;
  for (int i = 0; i < 100; ++i) {
    blocks.push_back(memory(MemoryKind::device, 4096));
  }
  in_threads([&](unsigned index) -> std::string {
    if (index % 4 == 0) {
      return churn(context(), index, by_board(400, 100));
    }
    Random random(index);
    for (int round = 0; round < 20'000; ++round) {
      const OwnedMemory& block = blocks[random.below(blocks.size())];
      ze_memory_allocation_properties_t found{};
      found.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
      if (zeMemGetAllocProperties(context(), block.get(), &found, nullptr) != ZE_RESULT_SUCCESS ||
          found.type != ZE_MEMORY_TYPE_DEVICE) {
        return "a live block was not recognised";
      }
    }
    return {};
  });
}

TEST_F(Threads,
       given_contexts_queues_and_events_when_eight_threads_make_and_destroy_them_then_all_calls_succeed) {
  if (under_validation()) {
    GTEST_SKIP() << "the validation layer's own tables of live handles take no lock";
  }
  in_threads([&](unsigned) -> std::string {
    for (int round = 0; round < by_board(40, 5); ++round) {
      const ze_context_desc_t description{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
      OwnedContext own;
      if (zeContextCreate(driver(), &description, own.address()) != ZE_RESULT_SUCCESS) {
        return "context";
      }
      OwnedQueue one = create_queue(own, device());
      OwnedList list = create_list(own, device());
      OwnedEventPool pool = create_event_pool(own, 4);
      OwnedEvent event = create_event(pool, 3);
      if (event.destroy() != ZE_RESULT_SUCCESS || pool.destroy() != ZE_RESULT_SUCCESS ||
          list.destroy() != ZE_RESULT_SUCCESS || one.destroy() != ZE_RESULT_SUCCESS ||
          own.destroy() != ZE_RESULT_SUCCESS) {
        return "destruction";
      }
    }
    return {};
  });
}

}  // namespace
}  // namespace datum::test
