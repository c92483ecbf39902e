// Memory of a context as dma-bufs, with a kernel that makes them whatever the machine.
#include <cstring>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <gtest/gtest.h>

#include "driver/memory/exported_memory.hpp"
#include "driver/memory/physical_memory.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"
#include "tests/fakes/memfd_dma_bufs.hpp"
#include "tests/unit/memory/model_board.hpp"
#include "tests/unit/memory/sizes.hpp"

namespace datum {
namespace {

constexpr ExternalTypes as_dma_buf{.dma_buf = true};

class DmaBufMemory : public ::testing::Test {
 protected:
  void SetUp() override {
    std::vector<std::unique_ptr<Board>> boards;
    boards.push_back(test::open_model("memory=16M"));
    driver_ = std::move(*Driver::create(std::move(boards)));
    driver_->dma_bufs().use(kernel_);
    context_ = std::move(*Context::create(*driver_, {&device()}));
  }

  Device& device() { return *driver_->devices().front(); }

  int descriptor_of(const void* pointer) {
    const Result<int> fd = driver_->exports().descriptor(context_->find(pointer)->id, ExternalType::dma_buf);
    EXPECT_TRUE(fd.ok());
    return fd.ok() ? *fd : -1;
  }

  test::MemfdDmaBufs kernel_;
  std::unique_ptr<Driver> driver_;
  std::unique_ptr<Context> context_;
};

TEST_F(DmaBufMemory, given_a_kernel_that_makes_them_or_not_then_the_device_says_so) {
  EXPECT_TRUE(device().exports(ExternalType::dma_buf));
  EXPECT_TRUE(device().imports(ExternalType::dma_buf));
  kernel_.present = false;
  driver_->dma_bufs().use(kernel_);
  EXPECT_FALSE(device().exports(ExternalType::dma_buf));
  EXPECT_FALSE(device().imports(ExternalType::dma_buf));
  EXPECT_TRUE(device().exports(ExternalType::opaque)) << "memory files do not depend on it";
}

TEST_F(DmaBufMemory, given_host_memory_exported_and_imported_then_both_pointers_are_the_same_bytes) {
  void* const made = *context_->make_exportable(context_->allocate_host(5000, 0), as_dma_buf);
  std::memcpy(made, "first", 5);
  void* const taken = *context_->import_external(nullptr, descriptor_of(made), as_dma_buf, 5000, 0);
  EXPECT_EQ(0, std::memcmp(taken, "first", 5));
  std::memcpy(static_cast<char*>(taken) + 4990, "last", 4);
  EXPECT_EQ(0, std::memcmp(static_cast<char*>(made) + 4990, "last", 4));
  EXPECT_TRUE(context_->free(made).ok());
  EXPECT_EQ(0, std::memcmp(taken, "first", 5)) << "who imported it keeps it";
  EXPECT_TRUE(context_->free(taken).ok());
}

TEST_F(DmaBufMemory, given_device_memory_as_a_dma_buf_then_it_is_imported_as_either_kind) {
  void* const made = *context_->make_exportable(context_->allocate_device(device(), 0, page, 0), as_dma_buf);
  const int fd = descriptor_of(made);
  auto* const host = static_cast<char*>(*context_->import_external(nullptr, fd, as_dma_buf, page, 0));
  std::memcpy(host, "bytes", 5);
  char found[5]{};
  EXPECT_EQ(5, ::pread(fd, found, sizeof found, 0));
  EXPECT_EQ(0, std::memcmp(found, "bytes", 5));
  void* const on_device = *context_->import_external(&device(), fd, as_dma_buf, page, 0);
  EXPECT_EQ(AllocationKind::device, context_->find(on_device)->kind);
  EXPECT_FALSE(context_->export_allocation(on_device).ok()) << "imported memory is not shared again";
  for (void* pointer : {static_cast<void*>(host), on_device, made}) {
    EXPECT_TRUE(context_->free(pointer).ok());
  }
}

TEST_F(DmaBufMemory, given_physical_objects_then_they_go_out_and_come_in_as_dma_bufs) {
  for (Device* place : {&device(), static_cast<Device*>(nullptr)}) {
    PhysicalMemory* const made =
        *context_->make_exportable(context_->create_physical(place, page), as_dma_buf);
    const int fd = *driver_->exports().descriptor(made->id(), ExternalType::dma_buf);
    PhysicalMemory* const taken = *context_->import_physical(place, fd, as_dma_buf, page);
    EXPECT_TRUE(taken->imported());
    EXPECT_TRUE(context_->destroy_physical(*taken).ok());
    EXPECT_TRUE(context_->destroy_physical(*made).ok());
  }
}

TEST_F(DmaBufMemory, given_more_than_the_kernel_allows_then_it_is_refused_and_nothing_is_left) {
  kernel_.limit = page;
  const Result<void*> refused =
      context_->make_exportable(context_->allocate_device(device(), 0, 2 * page, 0), as_dma_buf);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(ErrorCode::unsupported_size, refused.error().code);
  EXPECT_EQ(0U, driver_->exports().counts().files);
  const Result<void*> smaller =
      context_->make_exportable(context_->allocate_device(device(), 0, page, 0), as_dma_buf);
  EXPECT_TRUE(smaller.ok());
}

TEST_F(DmaBufMemory, given_descriptors_that_are_no_dma_bufs_then_they_are_refused) {
  int ends[2]{};
  ASSERT_EQ(0, ::pipe(ends));
  for (const int fd : {-1, ends[0], 987'654}) {
    const Result<void*> refused = context_->import_external(&device(), fd, as_dma_buf, page, 0);
    EXPECT_EQ(ErrorCode::invalid_argument, refused.error().code) << fd;
  }
  void* const made = *context_->make_exportable(context_->allocate_host(page, 0), as_dma_buf);
  EXPECT_EQ(ErrorCode::invalid_argument,
            context_->import_external(nullptr, descriptor_of(made), as_dma_buf, page + 1, 0).error().code)
      << "it is too small";
  ::close(ends[0]);
  ::close(ends[1]);
}

}  // namespace
}  // namespace datum
