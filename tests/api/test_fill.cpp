// zeCommandListAppendMemoryFill: pattern sizes, lengths, alignment, and what is refused.
#include <algorithm>
#include <array>
#include <cstring>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class Fill : public ApiTest {
 protected:
  [[nodiscard]] ze_result_t fill_code(void* to, const void* pattern_bytes, std::size_t pattern_size,
                                      std::size_t bytes) {
    ze_result_t appended = ZE_RESULT_SUCCESS;
    const ze_result_t ran = run([&](ze_command_list_handle_t list) {
      appended =
          zeCommandListAppendMemoryFill(list, to, pattern_bytes, pattern_size, bytes, nullptr, 0, nullptr);
    });
    return appended != ZE_RESULT_SUCCESS ? appended : ran;
  }

  static void fill_on_host(unsigned char* to, const unsigned char* pattern_bytes, std::size_t pattern_size,
                           std::size_t bytes) {
    for (std::size_t i = 0; i < bytes; ++i) {
      to[i] = pattern_bytes[i % pattern_size];
    }
  }
};

TEST_F(Fill, given_each_pattern_size_when_filled_then_the_pattern_repeats_exactly_and_neighbours_stay) {
  const Bytes value = pattern(16, 51);
  for (const MemoryKind kind : all_memory_kinds) {
    const OwnedMemory block = memory(kind, 8192);
    for (const std::size_t size : {1U, 2U, 4U, 8U, 16U}) {
      Bytes expected = pattern(8192, size);
      upload(block.get(), expected);
      const std::size_t at = 16 * 7;
      const std::size_t bytes = 16 * 61;
      ASSERT_EQ(ZE_RESULT_SUCCESS, fill_code(block.bytes() + at, value.data(), size, bytes))
          << name_of(kind) << ", pattern " << size;
      fill_on_host(expected.data() + at, value.data(), size, bytes);
      ASSERT_TRUE(same_bytes(expected, download(block.get(), 8192))) << name_of(kind) << ", pattern " << size;
    }
  }
}

TEST_F(Fill, given_every_offset_and_length_of_bytes_when_filled_then_exactly_those_bytes_change) {
  const std::size_t slot = 256;
  const std::size_t count = by_board<std::size_t>(64 * 8, 48);
  const OwnedMemory block = memory(MemoryKind::device, slot * count);
  Bytes expected = pattern(slot * count, 5);
  upload(block.get(), expected);
  Random random(test_seed() + 5);
  ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
              for (std::size_t i = 0; i < count; ++i) {
                const std::size_t size = std::size_t{1} << random.below(5);
                const std::size_t at = i * slot + random.below(64 / size) * size;
                const std::size_t bytes = random.below(128 / size + 1) * size;
                const Bytes value = pattern(size, i);
                ASSERT_EQ(ZE_RESULT_SUCCESS,
                          zeCommandListAppendMemoryFill(list, block.bytes() + at, value.data(), size, bytes,
                                                        nullptr, 0, nullptr));
                fill_on_host(expected.data() + at, value.data(), size, bytes);
              }
            }));
  EXPECT_TRUE(same_bytes(expected, download(block.get(), expected.size())));
}

TEST_F(Fill, given_a_long_fill_when_done_then_every_byte_is_right) {
  const std::size_t bytes = by_board<std::size_t>(3U << 20U, 32'768);
  const OwnedMemory block = memory(MemoryKind::device, bytes);
  const Bytes value = pattern(8, 1);
  ASSERT_EQ(ZE_RESULT_SUCCESS, fill_code(block.get(), value.data(), 8, bytes));
  Bytes expected(bytes);
  fill_on_host(expected.data(), value.data(), 8, bytes);
  EXPECT_TRUE(same_bytes(expected, download(block.get(), bytes)));
}

TEST_F(Fill, given_no_bytes_when_filled_then_nothing_changes) {
  const OwnedMemory block = memory(MemoryKind::device, 64);
  upload(block.get(), pattern(64, 1));
  const std::uint32_t value = 0;
  EXPECT_EQ(ZE_RESULT_SUCCESS, fill_code(block.get(), &value, 4, 0));
  EXPECT_TRUE(same_bytes(pattern(64, 1), download(block.get(), 64)));
}

TEST_F(Fill, given_pattern_sizes_that_are_no_power_of_two_or_too_large_when_filled_then_the_size_is_invalid) {
  const OwnedMemory block = memory(MemoryKind::device, 1 << 16);
  upload(block.get(), pattern(4096, 1));
  const Bytes value(256, 0xCC);
  // The validation layer divides by the size before it looks at it.
  for (std::size_t size = under_validation() ? 1 : 0; size <= 128; ++size) {
    const bool legal = size == 1 || size == 2 || size == 4 || size == 8 || size == 16;
    if (!legal) {
      const std::size_t bytes = std::max<std::size_t>(size, 1) * 2;
      EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SIZE, fill_code(block.get(), value.data(), size, bytes))
          << "pattern of " << size;
    }
  }
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SIZE, fill_code(block.get(), value.data(), SIZE_MAX, 64));
  EXPECT_TRUE(same_bytes(pattern(4096, 1), download(block.get(), 4096))) << "untouched on error";
}

TEST_F(Fill, given_a_size_that_is_no_multiple_of_the_pattern_when_filled_then_the_size_is_invalid) {
  const OwnedMemory block = memory(MemoryKind::device, 4096);
  const Bytes value(16, 1);
  for (const std::size_t size : {2U, 4U, 8U, 16U}) {
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SIZE, fill_code(block.get(), value.data(), size, size * 3 + 1))
        << "pattern of " << size;
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_SIZE, fill_code(block.get(), value.data(), size, size - 1))
        << "pattern of " << size;
  }
}

TEST_F(Fill,
       given_an_address_that_is_not_aligned_to_the_pattern_when_filled_then_the_alignment_is_unsupported) {
  const OwnedMemory block = memory(MemoryKind::device, 4096);
  const Bytes value(16, 1);
  for (const std::size_t size : {2U, 4U, 8U, 16U}) {
    for (std::size_t offset = 1; offset < size; ++offset) {
      EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT,
                fill_code(block.bytes() + offset, value.data(), size, size * 2))
          << "pattern of " << size << ", offset " << offset;
    }
  }
}

TEST_F(Fill, given_null_pointers_or_a_range_that_leaves_the_block_when_filled_then_each_has_its_code) {
  const OwnedMemory block = memory(MemoryKind::device, 4096);
  const Bytes value(16, 1);
  const OwnedList list = create_list(context(), device());
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandListAppendMemoryFill(list, nullptr, value.data(), 1, 64, nullptr, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER,
            zeCommandListAppendMemoryFill(list, block.get(), nullptr, 1, 64, nullptr, 0, nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, fill_code(block.get(), value.data(), 1, 64 << 20));
}

TEST_F(Fill,
       given_a_pattern_that_changes_after_the_append_when_executed_then_the_value_of_the_append_is_used) {
  // The specification lets data of a copy change until execution; the pattern is an argument and may live on
  // the stack.
  const OwnedMemory block = memory(MemoryKind::host, 64);
  const OwnedList list = create_list(context(), device());
  {
    std::uint32_t value = 0x11223344;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryFill(list, block.get(), &value, sizeof value, 64,
                                                               nullptr, 0, nullptr));
    value = 0x55667788;
  }
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(list));
  ASSERT_EQ(ZE_RESULT_SUCCESS, execute_and_wait(list));
  for (std::size_t i = 0; i < 16; ++i) {
    std::uint32_t found = 0;
    std::memcpy(&found, block.bytes() + i * 4, 4);
    EXPECT_EQ(0x11223344U, found);
  }
}

TEST_F(Fill, given_ordinary_memory_when_filled_then_it_is_filled) {
  Bytes ordinary(5000, 0);
  const unsigned char value = 0xA7;
  ASSERT_EQ(ZE_RESULT_SUCCESS, fill_code(ordinary.data() + 3, &value, 1, 4990));
  Bytes expected(5000, 0);
  std::fill(expected.begin() + 3, expected.begin() + 4993, value);
  EXPECT_TRUE(same_bytes(expected, ordinary));
}

}  // namespace
}  // namespace datum::test
