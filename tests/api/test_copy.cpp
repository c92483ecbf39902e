// zeCommandListAppendMemoryCopy: every length and alignment, bounds, overlap, and when the source is read.
#include <cstring>
#include <sys/mman.h>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class Copy : public ApiTest {
 protected:
  /// Copies between two blocks at the offsets and checks the copied bytes and 64 bytes on either side.
  struct Sample {
    std::size_t from_offset;
    std::size_t to_offset;
    std::size_t bytes;
  };

  /// Runs all samples in one list, each in a slot of its own, so that thousands cost one submission.
  void check_samples(MemoryKind from_kind, MemoryKind to_kind, const std::vector<Sample>& samples) {
    constexpr std::size_t slot = 512;
    constexpr std::size_t guard = 64;
    const std::size_t total = slot * samples.size();
    const OwnedMemory from = memory(from_kind, total);
    const OwnedMemory to = memory(to_kind, total);
    const Bytes source = pattern(total, 11);
    Bytes expected = pattern(total, 12);
    upload(from.get(), source);
    upload(to.get(), expected);
    ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
                for (std::size_t i = 0; i < samples.size(); ++i) {
                  const Sample& sample = samples[i];
                  const std::size_t source_at = i * slot + guard + sample.from_offset;
                  const std::size_t target_at = i * slot + guard + sample.to_offset;
                  ASSERT_LE(target_at + sample.bytes + guard, (i + 1) * slot);
                  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(
                                                   list, to.bytes() + target_at, from.bytes() + source_at,
                                                   sample.bytes, nullptr, 0, nullptr));
                  std::memcpy(expected.data() + target_at, source.data() + source_at, sample.bytes);
                }
              }));
    const Bytes found = download(to.get(), total);
    for (std::size_t i = 0; i < samples.size(); ++i) {
      ASSERT_TRUE(same_bytes(expected.data() + i * slot, found.data() + i * slot, slot))
          << name_of(from_kind) << " to " << name_of(to_kind) << ", " << samples[i].bytes << " bytes from +"
          << samples[i].from_offset << " to +" << samples[i].to_offset
          << " (slot with 64 bytes of guard before)";
    }
  }
};

TEST_F(Copy, given_every_small_length_when_copied_between_sampled_offsets_then_exactly_those_bytes_change) {
  Random random(test_seed());
  for (const auto& [from, to] :
       {std::pair{MemoryKind::host, MemoryKind::device}, std::pair{MemoryKind::device, MemoryKind::host},
        std::pair{MemoryKind::device, MemoryKind::device},
        std::pair{MemoryKind::onchip, MemoryKind::device}}) {
    std::vector<Sample> samples;
    for (std::size_t bytes = 0; bytes <= 130; ++bytes) {
      for (int i = 0; i < (from == MemoryKind::onchip ? 2 : by_board(20, 4)); ++i) {
        samples.push_back({random.below(64), random.below(64), bytes});
      }
    }
    check_samples(from, to, samples);
  }
}

TEST_F(Copy, given_every_pair_of_offsets_in_a_bus_beat_when_copied_then_exactly_those_bytes_change) {
  Random random(test_seed() + 1);
  std::vector<Sample> samples;
  const std::size_t step = by_board<std::size_t>(1, 3);
  for (std::size_t from = 0; from < 64; from += step) {
    for (std::size_t to = 0; to < 64; to += step) {
      samples.push_back({from, to, random.between(1, 200)});
    }
  }
  check_samples(MemoryKind::host, MemoryKind::device, samples);
  check_samples(MemoryKind::device, MemoryKind::host, samples);
}

TEST_F(Copy, given_a_long_copy_at_odd_offsets_when_done_then_all_bytes_are_right) {
  const std::size_t bytes = by_board<std::size_t>((5U << 20U) + 123, 200'011);
  const OwnedMemory from = memory(MemoryKind::host, bytes + 4096);
  const OwnedMemory middle = memory(MemoryKind::device, bytes + 4096);
  const OwnedMemory to = memory(MemoryKind::shared, bytes + 4096);
  write_pattern(from.get(), bytes + 4096, 21);
  copy(middle.bytes() + 4093, from.bytes() + 13, bytes);
  copy(to.bytes() + 1, middle.bytes() + 4093, bytes);
  EXPECT_TRUE(same_bytes(from.bytes() + 13, to.bytes() + 1, bytes));
}

TEST_F(Copy, given_a_source_that_ends_at_the_edge_of_what_is_mapped_when_copied_then_nothing_is_read_beyond) {
  const OwnedMemory to = memory(MemoryKind::device, 8192);
  for (const std::size_t bytes : {1U, 7U, 63U, 64U, 65U, 4095U, 4096U, 5000U}) {
    const std::size_t mapped = 8192;
    auto* pages = static_cast<unsigned char*>(
        ::mmap(nullptr, mapped + 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
    ASSERT_NE(MAP_FAILED, static_cast<void*>(pages));
    ASSERT_EQ(0, ::munmap(pages + mapped, 4096));
    unsigned char* source = pages + mapped - bytes;
    write_pattern(source, bytes, bytes);
    copy(to.get(), source, bytes);
    EXPECT_TRUE(same_bytes(pattern(bytes, bytes), download(to.get(), bytes))) << bytes << " bytes";
    ::munmap(pages, mapped);
  }
}

TEST_F(Copy, given_no_bytes_when_copied_then_nothing_changes_and_events_work) {
  const OwnedMemory from = memory(MemoryKind::host, 64);
  const OwnedMemory to = memory(MemoryKind::device, 64);
  upload(to.get(), pattern(64, 2));
  const OwnedEventPool pool = create_event_pool(context(), 2);
  OwnedEvent before = create_event(pool, 0);
  const OwnedEvent after = create_event(pool, 1);
  const OwnedList list = create_list(context(), device());
  ze_event_handle_t wait_for = before;
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, to.get(), from.get(), 0, after, 1, &wait_for));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t handle = list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queue(), 1, &handle, nullptr));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeCommandQueueSynchronize(queue(), 10'000'000));
  EXPECT_EQ(ZE_RESULT_NOT_READY, zeEventQueryStatus(after));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(before));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventHostSynchronize(after, patience_ns));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), patience_ns));
  EXPECT_TRUE(same_bytes(pattern(64, 2), download(to.get(), 64)));
}

TEST_F(Copy,
       given_ranges_that_leave_their_allocation_when_copied_then_the_range_is_invalid_and_the_queue_goes_on) {
  const OwnedMemory host = memory(MemoryKind::host, 1000);
  const OwnedMemory large = memory(MemoryKind::host, 1 << 20);
  for (const MemoryKind kind : all_memory_kinds) {
    const OwnedMemory block = memory(kind, 1000);
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, copy_code(block.get(), large.get(), 1 << 20))
        << name_of(kind);
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, copy_code(large.get(), block.get(), 1 << 20))
        << name_of(kind);
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, copy_code(block.bytes() + 999, large.get(), 8192))
        << name_of(kind);
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, copy_code(block.get(), large.get(), SIZE_MAX))
        << name_of(kind);
    EXPECT_EQ(ZE_RESULT_SUCCESS, copy_code(block.get(), host.get(), 1000)) << name_of(kind);
  }
}

TEST_F(Copy, given_null_pointers_when_copied_then_they_are_named) {
  const OwnedMemory block = memory(MemoryKind::device, 64);
  const OwnedList list = create_list(context(), device());
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandListAppendMemoryCopy(list, nullptr, block.get(), 64, nullptr, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandListAppendMemoryCopy(list, block.get(), nullptr, 64, nullptr, 0, nullptr));
}

TEST_F(Copy, given_addresses_where_nothing_is_mapped_when_copied_then_they_are_invalid) {
  const OwnedMemory block = memory(MemoryKind::device, 4096);
  void* hole = ::mmap(nullptr, 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_EQ(0, ::munmap(hole, 4096));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, copy_code(block.get(), hole, 100));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, copy_code(hole, block.get(), 100));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, copy_code(block.get(), reinterpret_cast<void*>(0x10), 100));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            copy_code(block.get(), reinterpret_cast<void*>(0xffff900000000000ULL), 100));
  const Bytes bytes = pattern(100, 3);
  upload(block.get(), bytes);
  EXPECT_TRUE(same_bytes(bytes, download(block.get(), 100)));
}

TEST_F(Copy, given_overlapping_ranges_when_copied_then_it_completes_and_touches_nothing_outside) {
  const OwnedMemory block = memory(MemoryKind::device, 8192);
  const Bytes bytes = pattern(8192, 7);
  upload(block.get(), bytes);
  EXPECT_EQ(ZE_RESULT_SUCCESS, copy_code(block.bytes() + 1000, block.bytes() + 1100, 3000));
  const Bytes found = download(block.get(), 8192);
  EXPECT_TRUE(same_bytes(bytes.data(), found.data(), 1000));
  EXPECT_TRUE(same_bytes(bytes.data() + 4000, found.data() + 4000, 8192 - 4000));
}

TEST_F(Copy, given_the_same_range_as_source_and_target_when_copied_then_the_bytes_stay) {
  const OwnedMemory block = memory(MemoryKind::device, 4096);
  const Bytes bytes = pattern(4096, 9);
  upload(block.get(), bytes);
  EXPECT_EQ(ZE_RESULT_SUCCESS, copy_code(block.get(), block.get(), 4096));
  EXPECT_TRUE(same_bytes(bytes, download(block.get(), 4096)));
}

TEST_F(Copy, given_a_source_changed_after_the_append_when_executed_then_the_bytes_of_the_execution_arrive) {
  const OwnedMemory target = memory(MemoryKind::device, 4096);
  const OwnedMemory host = memory(MemoryKind::host, 2048);
  Bytes ordinary(2048, 1);
  std::memset(host.get(), 1, 2048);
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, target.get(), host.get(), 2048, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(list, target.bytes() + 2048, ordinary.data(),
                                                             2048, nullptr, 0, nullptr));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  for (unsigned char value = 2; value < 5; ++value) {
    std::memset(host.get(), value, 2048);
    std::memset(ordinary.data(), value + 100, 2048);
    ASSERT_EQ(ZE_RESULT_SUCCESS, execute_and_wait(list));
    EXPECT_TRUE(same_bytes(Bytes(2048, value), download(target.get(), 2048)));
    EXPECT_TRUE(same_bytes(Bytes(2048, static_cast<unsigned char>(value + 100)),
                           download(target.bytes() + 2048, 2048)));
  }
}

TEST_F(
    Copy,
    given_an_ordinary_source_changed_while_the_copy_waits_for_an_event_when_signalled_then_the_late_bytes_arrive) {
  const OwnedMemory target = memory(MemoryKind::device, 3000);
  Bytes ordinary(3000, 1);
  const OwnedEventPool pool = create_event_pool(context(), 1);
  const OwnedEvent gate = create_event(pool);
  ze_event_handle_t wait_for = gate;
  const OwnedList list = create_list(context(), device());
  ASSERT_EQ(ZE_RESULT_SUCCESS,
            zeCommandListAppendMemoryCopy(list, target.get(), ordinary.data(), 3000, nullptr, 1, &wait_for));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ze_command_list_handle_t handle = list;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queue(), 1, &handle, nullptr));
  std::memset(ordinary.data(), 2, 3000);
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventHostSignal(gate));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queue(), patience_ns));
  EXPECT_TRUE(same_bytes(Bytes(3000, 2), download(target.get(), 3000)));
}

TEST_F(Copy, given_device_memory_above_4_gigabytes_of_offset_when_copied_then_no_address_wraps) {
  // The last pages of a nearly full DRAM lie above any 31-bit offset; a truncated address would land in the
  // first block.
  std::vector<OwnedMemory> blocks;
  constexpr std::size_t block_bytes = 64U << 20U;
  for (;;) {
    void* pointer = nullptr;
    if (allocate_raw(MemoryKind::device, context(), device(), block_bytes, 0, &pointer) !=
        ZE_RESULT_SUCCESS) {
      break;
    }
    blocks.emplace_back(context(), pointer);
  }
  ASSERT_GE(blocks.size(), 2U);
  for (std::size_t i = 0; i < blocks.size(); i += 8) {
    upload(blocks[i].bytes() + block_bytes - 64, pattern(64, i));
  }
  for (std::size_t i = 0; i < blocks.size(); i += 8) {
    EXPECT_TRUE(same_bytes(pattern(64, i), download(blocks[i].bytes() + block_bytes - 64, 64)))
        << "block " << i;
  }
}

}  // namespace
}  // namespace datum::test
