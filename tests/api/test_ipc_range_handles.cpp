// Handles of ranges themselves: counted, forged, sent to other programs.
#include <chrono>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <thread>
#include <unistd.h>
#include <vector>

#include "tests/api/handle_text.hpp"
#include "tests/api/ipc_range_test.hpp"
#include "tests/api/scenarios.hpp"
#include "tests/support/child_process.hpp"
#include "tests/support/in_threads.hpp"
#include "tests/support/process_resources.hpp"

namespace datum::test {
namespace {

constexpr const char* range_variable = "DATUM_TEST_IPC_RANGE";

class IpcRangeHandles : public RangeTest {
 protected:
  /// How many are open when there are `expected`, or after a while: whoever hands them out closes its end of
  /// a connection a moment after the answer.
  [[nodiscard]] static std::size_t descriptors_in_the_end(std::size_t expected) {
    const auto end = std::chrono::steady_clock::now() + std::chrono::nanoseconds(patience_ns);
    std::size_t count = open_descriptors();
    while (count != expected && std::chrono::steady_clock::now() < end) {
      std::this_thread::yield();
      count = open_descriptors();
    }
    return count;
  }
};

TEST_F(IpcRangeHandles, given_handles_got_and_put_then_the_count_of_descriptors_is_what_it_was) {
  const Row row = make_row(Place::both);
  put(get(row.first.at(), range_bytes));  // the objects are shared from here on
  const std::size_t before = open_descriptors();
  std::vector<ze_ipc_mem_handle_t> handles;
  for (int index = 0; index < 50; ++index) {
    handles.push_back(get(row.first.at(), range_bytes));
  }
  EXPECT_EQ(before + handles.size(), descriptors_in_the_end(before + handles.size()))
      << "one for each, whatever the number of objects";
  for (const ze_ipc_mem_handle_t& handle : handles) {
    close(open(handle));
    put(handle);
  }
  EXPECT_EQ(before, descriptors_in_the_end(before));
}

TEST_F(IpcRangeHandles, given_a_context_that_ends_with_handles_out_then_their_descriptors_are_closed) {
  const Row row = make_row(Place::device);
  put(get(row.first.at(), page));  // whoever hands out descriptors has some of its own from here on
  const std::size_t before = open_descriptors();
  ze_ipc_mem_handle_t handle{};
  {
    const OwnedContext other = create_context(driver());
    ze_physical_mem_desc_t wanted{ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, nullptr, 0, page};
    ze_physical_mem_handle_t object = nullptr;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemCreate(other, device(), &wanted, &object));
    void* base = nullptr;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemReserve(other, nullptr, page, &base));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemMap(other, base, page, object, 0, read_write));
    ASSERT_EQ(ZE_RESULT_SUCCESS, get_range(other, base, page, handle)) << last_error_text();
  }
  EXPECT_EQ(before, descriptors_in_the_end(before));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle))
      << "ending first, putting later is legal";
}

TEST_F(IpcRangeHandles, given_any_byte_of_the_handle_changed_then_other_memory_is_never_opened) {
  const Row row = make_row(Place::host);
  const Bytes content = pattern(range_bytes, 6);
  fill(row, content);
  const ze_ipc_mem_handle_t good = get(row.first.at(), range_bytes);
  for (std::size_t index = 0; index < sizeof good.data; ++index) {
    ze_ipc_mem_handle_t handle = good;
    handle.data[index] = static_cast<char>(handle.data[index] ^ 0x81);
    void* pointer = nullptr;
    const ze_result_t result = zeMemOpenIpcHandle(context(), device(), handle, 0, &pointer);
    if (result == ZE_RESULT_SUCCESS) {
      EXPECT_EQ(0, std::memcmp(pointer, content.data(), content.size())) << index;
      close(pointer);
    } else {
      EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, result) << index;
    }
  }
  put(good);
}

TEST_F(IpcRangeHandles, given_only_the_descriptor_when_opened_then_all_parts_are_there) {
  const Row row = make_row(Place::both);
  const Bytes content = pattern(range_bytes, 7);
  fill(row, content);
  const ze_ipc_mem_handle_t handle = get(row.first.at(), range_bytes);
  unsigned char* const opened = open(only_descriptor(descriptor_of(handle)));
  EXPECT_TRUE(same_bytes(content, download(opened, range_bytes)));
  close(opened);
  ze_ipc_mem_handle_t again{};
  const auto descriptor = static_cast<std::uint64_t>(descriptor_of(handle));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandleFromFileDescriptorExp(context(), descriptor, &again));
  EXPECT_EQ(0, std::memcmp(handle.data, again.data, sizeof again.data));
  put(again);
  put(handle);
}

TEST_F(IpcRangeHandles, given_many_objects_then_one_handle_is_of_them_all) {
  const std::size_t count = by_board<std::size_t>(300, 40);
  std::vector<OwnedPhysical> objects;
  const OwnedReservation row = reserve(count * page);
  for (std::size_t index = 0; index < count; ++index) {
    objects.push_back(physical(page));
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(row.at(index * page), page, objects.back()));
  }
  const Bytes content = pattern(count * page, 8);
  upload(row.at(), content);
  const ze_ipc_mem_handle_t handle = get(row.at(), count * page);
  const std::size_t before = open_descriptors();
  unsigned char* const opened = open(handle);
  EXPECT_TRUE(same_bytes(content, download(opened, count * page)));
  EXPECT_EQ(before, descriptors_in_the_end(before)) << "no descriptor stays with what is open";
  close(opened);
  put(handle);
}

TEST_F(IpcRangeHandles, given_many_threads_when_they_get_open_close_and_put_then_each_sees_the_bytes) {
  const Row row = make_row(Place::host);
  const Bytes content = pattern(range_bytes, 9);
  fill(row, content);
  in_threads(4, [&](unsigned) -> std::string {
    for (int round = 0; round < 20; ++round) {
      const ze_ipc_mem_handle_t handle = get(row.first.at(), range_bytes);
      const unsigned char* const opened = open(handle);
      if (opened == nullptr || std::memcmp(opened, content.data(), content.size()) != 0) {
        return "other bytes in round " + std::to_string(round);
      }
      close(opened);
      put(handle);
    }
    return {};
  });
}

TEST_F(IpcRangeHandles, given_the_64_bytes_sent_to_a_program_then_it_reads_and_writes_all_parts) {
  for (const Place place : places) {
    const Row row = make_row(place);
    fill(row, pattern(range_bytes, 1));
    ze_ipc_mem_handle_t handle = get(row.first.at(), range_bytes);
    const ChildOutcome child =
        run_scenario_in_child("ipc_range_open_and_answer", {{range_variable, as_text(handle)}});
    EXPECT_TRUE(child.succeeded()) << child.describe();
    EXPECT_TRUE(same_bytes(pattern(range_bytes, 2), download(row.first.at(), range_bytes)));
    // And with the descriptor alone, which it inherits.
    fill(row, pattern(range_bytes, 1));
    const int inherited = ::fcntl(descriptor_of(handle), F_DUPFD, 200);
    const ChildOutcome other = run_scenario_in_child("ipc_range_open_and_answer",
                                                     {{range_variable, as_text(only_descriptor(inherited))}});
    ::close(inherited);
    EXPECT_TRUE(other.succeeded()) << other.describe();
    EXPECT_TRUE(same_bytes(pattern(range_bytes, 2), download(row.first.at(), range_bytes)));
    put(handle);
  }
}

TEST_F(IpcRangeHandles, given_a_program_that_ended_when_its_range_is_opened_then_it_is_refused_at_once) {
  const ChildOutcome child = run_scenario_in_child("ipc_range_print_handle");
  ASSERT_TRUE(child.succeeded()) << child.describe();
  ASSERT_GE(child.output.size(), 128U);
  void* opened = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeMemOpenIpcHandle(context(), device(),
                               from_text<ze_ipc_mem_handle_t>(child.output.substr(0, 128)), 0, &opened));
}

}  // namespace

/// Opens the range in the environment, finds pattern 1 in it and leaves pattern 2.
int scenario_ipc_range_open_and_answer() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  ze_device_handle_t device = session().devices.front();
  const OwnedContext context = create_context(session().driver);
  const OwnedMemory staging = allocate(MemoryKind::host, context, device, range_bytes);
  const OwnedList list = create_immediate_list(context, device, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS);
  const auto copy = [&](void* to, const void* from) {
    return zeCommandListAppendMemoryCopy(list, to, from, range_bytes, nullptr, 0, nullptr);
  };
  void* opened = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS,
                  zeMemOpenIpcHandle(context, device,
                                     from_text<ze_ipc_mem_handle_t>(environment(range_variable)), 0,
                                     &opened));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, copy(staging.get(), opened));
  const Bytes expected = pattern(range_bytes, 1);
  SCENARIO_REQUIRE(std::memcmp(staging.get(), expected.data(), range_bytes) == 0);
  write_pattern(staging.get(), range_bytes, 2);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, copy(opened, staging.get()));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context, opened));
  return 0;
}

int scenario_ipc_range_print_handle() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const OwnedContext context = create_context(session().driver);
  ze_physical_mem_desc_t wanted{ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, nullptr, 0, page};
  ze_physical_mem_handle_t object = nullptr;
  void* base = nullptr;
  ze_ipc_mem_handle_t handle{};
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS,
                  zePhysicalMemCreate(context, session().devices.front(), &wanted, &object));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeVirtualMemReserve(context, nullptr, page, &base));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS,
                  zeVirtualMemMap(context, base, page, object, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, get_range(context, base, page, handle));
  std::printf("%s\n", as_text(handle).c_str());
  return 0;
}

}  // namespace datum::test
