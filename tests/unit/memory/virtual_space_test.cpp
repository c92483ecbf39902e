// Virtual memory of a context against a board of the golden model: what its tables say, and what failing
// calls leave.
#include <cstring>
#include <memory>
#include <vector>

#include <gtest/gtest.h>

#include "driver/memory/device_heap.hpp"
#include "driver/memory/dma_map.hpp"
#include "driver/memory/virtual_space.hpp"
#include "tests/unit/memory/model_board.hpp"
#include "tests/unit/memory/sizes.hpp"
#include "tests/unit/memory/table_walk.hpp"

namespace datum {
namespace {

constexpr std::uint32_t context_number = 7;

Device* const device = reinterpret_cast<Device*>(64);  // only compared
Context* const owner = reinterpret_cast<Context*>(64);

class VirtualSpaceTest : public ::testing::Test {
 protected:
  VirtualSpaceTest()
      : board_(test::open_model("memory=64M")),
        heap_({0, board_->capabilities().memory_bytes, board_->capabilities().aperture_fixed_bytes, true, 0}),
        dma_(board_->function()),
        space_(std::move(*AddressSpace::create(*board_, heap_,
                                               [this](std::span<const PageRun> runs) {
                                                 cleared_.insert(cleared_.end(), runs.begin(), runs.end());
                                                 return Status{};
                                               }))),
        virtual_(std::make_unique<VirtualSpace>(
            VirtualSpace::Place{*window_, registry_, owner, context_number},
            std::vector<VirtualSpace::BoardSpace>{{device, space_.get(), &dma_}})) {}

  ~VirtualSpaceTest() override {
    virtual_->end();
    space_.reset();
  }

  const PhysicalMemory& device_object(std::uint64_t pages) {
    std::shared_ptr<PhysicalMemory> made =
        *PhysicalMemory::on_device(*window_, *device, heap_, {pages * page, ++ids_});
    virtual_->add_object(made);
    return *made;
  }

  const PhysicalMemory& host_object(std::uint64_t pages) {
    DmaMap* const maps[] = {&dma_};
    std::shared_ptr<PhysicalMemory> made = *PhysicalMemory::in_host(*window_, maps, {pages * page, ++ids_});
    virtual_->add_object(made);
    return *made;
  }

  std::uintptr_t reserve(std::uint64_t pages) { return *virtual_->reserve(0, pages * page, ++ids_); }

  Status map(std::uintptr_t at, std::uint64_t pages, const PhysicalMemory& object, std::uint64_t offset = 0,
             PageAccess access = PageAccess::read_write) {
    return virtual_->map({at, pages * page}, object, offset, access, ++ids_);
  }

  [[nodiscard]] std::optional<std::uint64_t> translate(std::uintptr_t address) {
    EXPECT_TRUE(space_->commit().ok());
    return test::translate(*board_, space_->number(), address);
  }

  std::unique_ptr<AddressWindow> window_ = std::move(*AddressWindow::reserve(1ULL << 30U));
  Registry registry_;
  std::unique_ptr<Board> board_;
  DeviceHeap heap_;
  DmaMap dma_;
  std::vector<PageRun> cleared_;
  std::unique_ptr<AddressSpace> space_;
  std::unique_ptr<VirtualSpace> virtual_;
  std::uint64_t ids_ = 0;
};

TEST_F(VirtualSpaceTest, given_a_mapping_then_the_boards_tables_lead_to_the_objects_pages) {
  const PhysicalMemory& object = device_object(8);
  const std::uintptr_t at = reserve(16);
  ASSERT_TRUE(map(at + 2 * page, 4, object, 3 * page).ok());
  const std::uint64_t first = object.backing().runs().front().first.offset_bytes;
  EXPECT_EQ(translate(at + 2 * page), first + 3 * page);
  EXPECT_EQ(translate(at + 5 * page), first + 6 * page);
  EXPECT_FALSE(translate(at + 6 * page).has_value());
  EXPECT_FALSE(translate(at + page).has_value());
}

TEST_F(VirtualSpaceTest, given_unmapping_then_the_board_has_lost_the_pages_when_it_returns) {
  const PhysicalMemory& object = device_object(8);
  const std::uintptr_t at = reserve(8);
  ASSERT_TRUE(map(at, 8, object).ok());
  ASSERT_TRUE(translate(at).has_value());
  ASSERT_TRUE(virtual_->unmap({at + page, 2 * page}).ok());
  EXPECT_FALSE(test::translate(*board_, space_->number(), at + page).has_value());
  EXPECT_TRUE(test::translate(*board_, space_->number(), at).has_value());
  EXPECT_TRUE(test::translate(*board_, space_->number(), at + 3 * page).has_value());
}

TEST_F(VirtualSpaceTest, given_no_table_page_when_mapped_or_cut_then_it_fails_and_everything_is_as_it_was) {
  const PhysicalMemory& object = device_object(512);
  const PhysicalMemory& host = host_object(1);
  const std::uintptr_t large = reserve(512);
  ASSERT_TRUE(map(large, 512, object).ok());
  ASSERT_TRUE(translate(large).has_value());
  const std::uintptr_t other = reserve(1 + (1ULL << 30U) / page);  // larger than the window, so with no table
  std::vector<DeviceAddress> taken;
  for (Result<DeviceAddress> table = heap_.allocate_table(); table.ok(); table = heap_.allocate_table()) {
    taken.push_back(*table);
  }
  const Status mapped = map(other, 1, host);
  ASSERT_FALSE(mapped.ok());
  EXPECT_EQ(mapped.error().code, ErrorCode::out_of_device_memory);
  EXPECT_FALSE(virtual_->find(other).has_value());
  if (object.backing().runs().size() == 1) {  // one large page: cutting it takes a table
    EXPECT_FALSE(virtual_->unmap({large + page, page}).ok());
    EXPECT_FALSE(virtual_->set_access({large + page, page}, PageAccess::read_only).ok());
    EXPECT_EQ(virtual_->access_of({large, 512 * page})->bytes, 512 * page);
  }
  for (const DeviceAddress table : taken) {
    heap_.free_table(table);
  }
  EXPECT_TRUE(map(other, 1, host).ok());
  EXPECT_TRUE(virtual_->unmap({large + page, page}).ok());
}

TEST_F(VirtualSpaceTest,
       given_pages_with_data_of_another_context_then_they_are_cleared_before_the_board_sees_them) {
  Result<std::vector<PageRun>> all = heap_.allocate(8 * page);
  heap_.set_owner(*all, context_number + 1);
  heap_.free(*all);
  const PhysicalMemory& object = device_object(8);
  ASSERT_FALSE(heap_.foreign_parts(object.backing().runs(), context_number).empty());
  const std::uintptr_t at = reserve(8);
  ASSERT_TRUE(map(at, 8, object).ok());
  ASSERT_TRUE(virtual_->unmap({at, 4 * page}).ok());
  ASSERT_TRUE(translate(at + 4 * page).has_value());
  std::uint64_t bytes = 0;
  for (const PageRun& run : cleared_) {
    bytes += run.bytes;
  }
  EXPECT_EQ(bytes, 8 * page) << "also where a part was unmapped before";
}

TEST_F(VirtualSpaceTest,
       given_an_object_that_the_board_never_saw_when_destroyed_then_its_pages_stay_foreign) {
  Result<std::vector<PageRun>> all = heap_.allocate(8 * page);
  heap_.set_owner(*all, context_number + 1);
  heap_.free(*all);
  const PhysicalMemory& object = device_object(8);
  const std::vector<PageRun> runs = object.backing().runs();
  ASSERT_TRUE(virtual_->remove_object(object).ok());
  EXPECT_FALSE(heap_.foreign_parts(runs, context_number).empty());
  EXPECT_TRUE(space_->commit().ok());
  EXPECT_TRUE(cleared_.empty());
}

TEST_F(VirtualSpaceTest,
       given_a_mapped_object_when_destroyed_then_it_is_in_use_until_the_last_page_is_unmapped) {
  const PhysicalMemory& object = device_object(4);
  const std::uint64_t free_before = heap_.free_bytes();
  const std::uintptr_t at = reserve(8);
  ASSERT_TRUE(map(at, 4, object).ok());
  ASSERT_TRUE(map(at + 4 * page, 1, object).ok());
  ASSERT_TRUE(virtual_->unmap({at, 4 * page}).ok());
  const Status early = virtual_->remove_object(object);
  ASSERT_FALSE(early.ok());
  EXPECT_EQ(early.error().code, ErrorCode::handle_object_in_use);
  ASSERT_TRUE(virtual_->free({at, 8 * page}).ok());
  EXPECT_TRUE(virtual_->remove_object(object).ok());
  EXPECT_GT(heap_.free_bytes(), free_before);
}

TEST_F(VirtualSpaceTest, given_host_memory_mapped_twice_then_the_cpu_finds_the_same_bytes_at_both_places) {
  const PhysicalMemory& object = host_object(4);
  const std::uintptr_t at = reserve(16);
  ASSERT_TRUE(map(at, 4, object).ok());
  ASSERT_TRUE(map(at + 8 * page, 2, object, 2 * page).ok());
  std::memset(reinterpret_cast<void*>(at + 2 * page), 0x5a, 2 * page);
  EXPECT_EQ(
      std::memcmp(reinterpret_cast<void*>(at + 2 * page), reinterpret_cast<void*>(at + 8 * page), 2 * page),
      0);
  EXPECT_EQ(translate(at + 2 * page), translate(at + 8 * page));
  EXPECT_EQ(translate(at), raw(object.host().iova(dma_)));
}

}  // namespace
}  // namespace datum
