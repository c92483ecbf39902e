// A whole driver on a card whose process may lock little memory: the kernel refuses more, the answer says
// what to do, and everything goes on.
#include <cstddef>
#include <memory>
#include <string>
#include <sys/mman.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include <datum/base/mapping.hpp>

#include "driver/memory/physical_memory.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"
#include "sim/backend.hpp"
#include "tests/fakes/kernel/fake_kernel.hpp"
#include "tests/fakes/kernel/function_card.hpp"
#include "vfio_backend/backend.hpp"

namespace datum::test {
namespace {

constexpr std::uint64_t mib = 1ULL << 20U;
constexpr std::uint64_t limit_bytes = 24 * mib;
constexpr const char* slot_address = "0000:03:00.0";

class LockedMemory : public ::testing::TestWithParam<const char*> {
 protected:
  void SetUp() override {
    kernel_.machine.traits.memlock_bytes = limit_bytes;
    auto model = sim::open_simulated("model:memory=16M");
    ASSERT_TRUE(model.ok()) << model.error().message;
    kernel_.plug(slot_address, 12, std::make_shared<FunctionCard>(std::move(*model)));
    auto card = vfio::open_card(kernel_, std::string("vfio:") + slot_address + "," + GetParam());
    ASSERT_TRUE(card.ok()) << card.error().message;
    std::vector<std::unique_ptr<Board>> boards;
    boards.push_back(std::move(*Board::adopt(std::move(*card))));
    driver_ = std::move(*Driver::create(std::move(boards)));
    context_ = std::move(*Context::create(*driver_, {&device()}));
  }

  void TearDown() override {
    context_.reset();
    driver_.reset();
    EXPECT_EQ(0U, kernel_.machine.locked_bytes);
    EXPECT_TRUE(kernel_.machine.complaints.empty()) << kernel_.machine.complaints.front();
  }

  Device& device() { return *driver_->devices().front(); }

  /// Allocates until it is refused, which `refusal` tells.
  std::vector<void*> use_up(std::uint64_t bytes, Error& refusal) {
    std::vector<void*> blocks;
    for (;;) {
      Result<void*> block = context_->allocate_host(bytes, 0);
      if (!block.ok()) {
        refusal = block.error();
        return blocks;
      }
      blocks.push_back(*block);
    }
  }

  void free(const std::vector<void*>& blocks) {
    for (void* block : blocks) {
      EXPECT_TRUE(context_->free(block).ok());
    }
    EXPECT_TRUE(device().drain_quarantine().ok());
  }

  /// Memory of both kinds is to be had, and the board takes what it is told.
  void expect_usable() {
    for (const Result<void*>& made :
         {context_->allocate_device(device(), 0, 4096, 0), context_->allocate_host(4096, 0)}) {
      ASSERT_TRUE(made.ok()) << made.error().message;
      EXPECT_TRUE(device().drain_quarantine().ok());
      EXPECT_TRUE(context_->free(*made).ok());
    }
  }

  static void expect_names(const Error& refusal, std::uint64_t bytes) {
    EXPECT_EQ(ErrorCode::out_of_host_memory, refusal.code) << refusal.message;
    EXPECT_NE(std::string::npos, refusal.message.find(std::to_string(bytes))) << refusal.message;
    EXPECT_NE(std::string::npos, refusal.message.find("RLIMIT_MEMLOCK is 24 MiB")) << refusal.message;
    EXPECT_NE(std::string::npos, refusal.hint.find("ulimit -l")) << refusal.hint;
  }

  FakeKernel kernel_;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Context> context_;
};

TEST_P(LockedMemory, given_all_of_it_used_when_more_is_asked_for_then_size_limit_and_cure_are_named) {
  for (const std::uint64_t bytes : {3 * mib, std::uint64_t{100'000}}) {
    Error refusal;
    const std::vector<void*> blocks = use_up(bytes, refusal);
    ASSERT_FALSE(blocks.empty());
    expect_names(refusal, bytes > mib ? bytes : 2 * mib);  // small ones are pieces of 2 MiB
    EXPECT_LE(kernel_.machine.locked_bytes, limit_bytes);
    EXPECT_TRUE(context_->allocate_device(device(), 0, 4096, 0).ok()) << "the board's memory is not locked";
    free(blocks);
    expect_usable();
    Error again;
    const std::vector<void*> same = use_up(bytes, again);
    EXPECT_EQ(blocks.size(), same.size()) << "nothing was lost by being refused";
    EXPECT_EQ(refusal.message.substr(0, 40), again.message.substr(0, 40));
    free(same);
  }
}

TEST_P(LockedMemory, given_one_block_freed_or_the_limit_raised_then_there_is_room_again) {
  Error refusal;
  std::vector<void*> blocks = use_up(3 * mib, refusal);
  ASSERT_TRUE(context_->free(blocks.back()).ok());
  blocks.back() = *context_->allocate_host(3 * mib, 0);
  EXPECT_FALSE(context_->allocate_host(3 * mib, 0).ok());
  kernel_.machine.traits.memlock_bytes = 2 * limit_bytes;
  const Result<void*> more = context_->allocate_host(3 * mib, 0);
  EXPECT_TRUE(more.ok()) << "the cure that was named helps: " << more.error().message;
}

TEST_P(LockedMemory, given_all_of_it_used_then_every_other_way_to_lock_memory_is_refused_alike) {
  Error refusal;
  const std::vector<void*> blocks = use_up(3 * mib, refusal);
  const Result<void*> shared = context_->allocate_shared(&device(), 3 * mib, 0);
  ASSERT_FALSE(shared.ok());
  expect_names(shared.error(), 3 * mib);
  const Result<PhysicalMemory*> object = context_->create_physical(nullptr, 3 * mib);
  ASSERT_FALSE(object.ok());
  expect_names(object.error(), 3 * mib);
  const std::uint64_t bytes = 8 * mib;
  const Mapping memory(::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0),
                       bytes);
  const Result<void*> imported = context_->import_system_memory(memory.data(), bytes);
  ASSERT_FALSE(imported.ok());
  expect_names(imported.error(), bytes);
  const Result<Pin> pinned =
      context_->make_accessible(device(), memory.data(), bytes, board::DmaAccess::read_write);
  ASSERT_FALSE(pinned.ok()) << "a copy stages such memory then";
  EXPECT_EQ(ErrorCode::out_of_host_memory, pinned.error().code);
  free(blocks);
  EXPECT_TRUE(context_->import_system_memory(memory.data(), bytes).ok());
  EXPECT_TRUE(context_->free(memory.data()).ok());
}

TEST_P(LockedMemory,
       given_room_enough_when_much_is_asked_for_then_the_kernel_is_asked_as_often_as_for_little) {
  kernel_.machine.traits.memlock_bytes = 1ULL << 40U;
  const auto calls_for = [&](std::uint64_t bytes) {
    const unsigned before = kernel_.calls();
    const Result<void*> block = context_->allocate_host(bytes, 0);
    EXPECT_TRUE(block.ok()) << block.error().message;
    const unsigned calls = kernel_.calls() - before;
    free({*block});
    return calls;
  };
  const unsigned little = calls_for(3 * mib);
  EXPECT_LE(little, 2U) << "one that maps, and where the kernel takes no files one that shows it the file";
  EXPECT_EQ(calls_for(192 * mib), little);
}

INSTANTIATE_TEST_SUITE_P(Interfaces, LockedMemory, ::testing::Values("iommufd", "container"),
                         [](const auto& instance) { return std::string(instance.param); });

}  // namespace
}  // namespace datum::test
