// Limits: the largest allocation, more than the memory, exhaustion, and exact accounting after it.
#include <cstring>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

class MemoryLimits : public ApiTest {
 protected:
  void SetUp() override {
    ApiTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    ze_device_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), &properties));
    largest_ = static_cast<std::size_t>(properties.maxMemAllocSize);
    std::uint32_t count = 2;
    ze_device_memory_properties_t memories[2]{};
    memories[0].stype = memories[1].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetMemoryProperties(device(), &count, memories));
    dram_ = static_cast<std::size_t>(memories[0].totalSize);
    onchip_ = static_cast<std::size_t>(memories[1].totalSize);
  }

  [[nodiscard]] ze_result_t attempt(MemoryKind kind, std::size_t bytes) {
    void* pointer = nullptr;
    const ze_result_t result = allocate_raw(kind, context(), device(), bytes, 0, &pointer);
    const OwnedMemory block(context(), pointer);
    return result;
  }

  [[nodiscard]] ze_result_t attempt_relaxed(std::size_t bytes, ze_structure_type_t stype) {
    const ze_relaxed_allocation_limits_ext_desc_t relaxed{stype, nullptr,
                                                          ZE_RELAXED_ALLOCATION_LIMITS_EXT_FLAG_MAX_SIZE};
    const ze_device_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, &relaxed, 0, 0};
    void* pointer = nullptr;
    const ze_result_t result = zeMemAllocDevice(context(), &description, bytes, 0, device(), &pointer);
    if (result == ZE_RESULT_SUCCESS) {
      std::size_t size = 0;
      EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAddressRange(context(), pointer, nullptr, &size));
      EXPECT_EQ(bytes, size) << "never a truncated block";
    }
    const OwnedMemory block(context(), pointer);
    return result;
  }

  /// Blocks of `bytes` until the memory is full.
  [[nodiscard]] std::vector<OwnedMemory> fill_memory(MemoryKind kind, std::size_t bytes) {
    std::vector<OwnedMemory> blocks;
    for (;;) {
      void* pointer = nullptr;
      const ze_result_t result = allocate_raw(kind, context(), device(), bytes, 0, &pointer);
      if (result != ZE_RESULT_SUCCESS) {
        EXPECT_EQ(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, result) << "after " << blocks.size() << " blocks";
        return blocks;
      }
      blocks.emplace_back(context(), pointer);
    }
  }

  std::size_t largest_ = 0;
  std::size_t dram_ = 0;
  std::size_t onchip_ = 0;
};

TEST_F(MemoryLimits,
       given_the_advertised_maximum_when_allocated_on_an_idle_board_then_it_can_be_had_to_its_last_byte) {
  const OwnedMemory block = memory(MemoryKind::device, largest_);
  ASSERT_NE(nullptr, block.get());
  const Bytes bytes = pattern(777, 4);
  upload(block.bytes() + largest_ - bytes.size(), bytes);
  upload(block.get(), pattern(777, 5));
  EXPECT_TRUE(same_bytes(bytes, download(block.bytes() + largest_ - bytes.size(), bytes.size())));
  EXPECT_TRUE(same_bytes(pattern(777, 5), download(block.get(), 777)));
}

TEST_F(MemoryLimits, given_more_than_the_maximum_when_allocated_then_the_size_is_unsupported) {
  for (const MemoryKind kind : all_memory_kinds) {
    for (const std::size_t bytes :
         {largest_ + 1, largest_ * 2, std::size_t{1} << 47U, SIZE_MAX / 2, SIZE_MAX - 4095, SIZE_MAX}) {
      EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_SIZE, attempt(kind, bytes)) << name_of(kind) << ", " << bytes;
    }
  }
}

TEST_F(MemoryLimits,
       given_relaxed_limits_when_more_than_the_maximum_is_asked_for_then_only_the_memory_decides) {
  for (const ze_structure_type_t stype : {ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXT_DESC,
                                          ZE_STRUCTURE_TYPE_RELAXED_ALLOCATION_LIMITS_EXP_DESC}) {
    EXPECT_EQ(ZE_RESULT_SUCCESS, attempt_relaxed(4096, stype));
    const ze_result_t just_above = attempt_relaxed(largest_ + 1, stype);
    EXPECT_EQ(largest_ < dram_ / 2 ? ZE_RESULT_SUCCESS : just_above, just_above);
    EXPECT_TRUE(just_above == ZE_RESULT_SUCCESS || just_above == ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY)
        << result_text(just_above);
    EXPECT_EQ(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, attempt_relaxed(dram_ + 1, stype));
    EXPECT_EQ(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, attempt_relaxed(std::size_t{1} << 46U, stype));
  }
}

TEST_F(MemoryLimits, given_more_than_the_onchip_memory_when_allocated_there_then_device_memory_is_out) {
  ASSERT_LT(onchip_, largest_);
  EXPECT_EQ(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, attempt(MemoryKind::onchip, onchip_ + 1));
  EXPECT_EQ(ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, attempt(MemoryKind::onchip, largest_));
}

TEST_F(MemoryLimits,
       given_device_memory_filled_up_when_more_is_asked_for_then_it_is_out_and_all_blocks_still_work) {
  const std::size_t bytes = dram_ / 64;
  std::vector<OwnedMemory> blocks = fill_memory(MemoryKind::device, bytes);
  const std::size_t first_count = blocks.size();
  EXPECT_GE(first_count, 56U) << "most of the advertised memory can be had";
  EXPECT_LE(first_count, 64U);

  const Bytes first = pattern(500, 1);
  const Bytes last = pattern(500, 2);
  upload(blocks.front().get(), first);
  upload(blocks.back().bytes() + bytes - 500, last);
  EXPECT_TRUE(same_bytes(first, download(blocks.front().get(), 500)));
  EXPECT_TRUE(same_bytes(last, download(blocks.back().bytes() + bytes - 500, 500)));

  EXPECT_EQ(ZE_RESULT_SUCCESS, blocks[first_count / 2].free());
  EXPECT_EQ(ZE_RESULT_SUCCESS, attempt(MemoryKind::device, bytes))
      << "what was freed can be had again at once";

  blocks.clear();
  EXPECT_EQ(first_count, fill_memory(MemoryKind::device, bytes).size()) << "nothing of the memory is lost";
}

TEST_F(MemoryLimits,
       given_onchip_memory_filled_with_single_pages_when_freed_then_the_same_number_fits_again) {
  const std::size_t first = fill_memory(MemoryKind::onchip, 4096).size();
  EXPECT_GT(first, 0U);
  EXPECT_LE(first, onchip_ / 4096);
  EXPECT_EQ(first, fill_memory(MemoryKind::onchip, 4096).size());
}

TEST_F(MemoryLimits, given_fragmented_memory_when_half_of_it_is_asked_for_in_one_piece_then_it_is_found) {
  std::vector<OwnedMemory> blocks = fill_memory(MemoryKind::onchip, 4096);
  const std::size_t count = blocks.size();
  ASSERT_GE(count, 8U);
  for (std::size_t i = 0; i < count; i += 2) {
    ASSERT_EQ(ZE_RESULT_SUCCESS, blocks[i].free());
  }
  // Every second page is free: no two of them are neighbours, and allocations need not be contiguous.
  const OwnedMemory large = memory(MemoryKind::onchip, count / 2 * 4096);
  ASSERT_NE(nullptr, large.get());
  const std::size_t used = std::min<std::size_t>(count / 2 * 4096, by_board<std::size_t>(1U << 20U, 16384));
  const Bytes bytes = pattern(used, 6);
  upload(large.get(), bytes);
  EXPECT_TRUE(same_bytes(bytes, download(large.get(), used)));
}

TEST_F(MemoryLimits, given_usable_memory_asked_for_when_a_block_comes_and_goes_then_it_follows) {
  ze_device_usablemem_size_ext_properties_t usable{};
  usable.stype = ZE_STRUCTURE_TYPE_DEVICE_USABLEMEM_SIZE_EXT_PROPERTIES;
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES_1_2;
  properties.pNext = &usable;
  const auto usable_now = [&] {
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device(), &properties));
    return usable.currUsableMemSize;
  };
  const std::uint64_t before = usable_now();
  EXPECT_GT(before, 0U);
  EXPECT_LE(before, dram_ + onchip_);
  {
    const OwnedMemory block = memory(MemoryKind::device, dram_ / 8);
    EXPECT_LE(usable_now() + dram_ / 8, before);
  }
  EXPECT_EQ(before, usable_now());
}

}  // namespace
}  // namespace datum::test
