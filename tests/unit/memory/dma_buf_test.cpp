// Memory files as dma-bufs: whether this machine makes them, and what happens where it refuses.
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>

#include <gtest/gtest.h>

#include <datum/base/address.hpp>
#include <datum/base/dma_buf.hpp>

#include "driver/memory/dma_buf.hpp"
#include "driver/memory/exported_memory.hpp"
#include "tests/fakes/memfd_dma_bufs.hpp"
#include "tests/unit/memory/sizes.hpp"

namespace datum {
namespace {

UniqueFd file_of(std::uint64_t bytes, int seals = F_SEAL_SHRINK) {
  UniqueFd file(::memfd_create("test", MFD_CLOEXEC | MFD_ALLOW_SEALING));
  EXPECT_EQ(0, ::ftruncate(file.get(), static_cast<off_t>(bytes)));
  EXPECT_EQ(0, ::fcntl(file.get(), F_ADD_SEALS, seals));
  return file;
}

TEST(DmaBufs, given_a_kernel_that_makes_them_when_asked_then_it_is_tried_once) {
  test::MemfdDmaBufs kernel;
  DmaBufs bufs(kernel);
  EXPECT_TRUE(bufs.work());
  EXPECT_TRUE(bufs.work());
  EXPECT_EQ(1U, kernel.created);
}

TEST(DmaBufs, given_no_device_or_one_whose_buffers_are_copies_then_they_do_not_work) {
  test::MemfdDmaBufs kernel;
  kernel.present = false;
  EXPECT_FALSE(DmaBufs(kernel).work());
  kernel.present = true;
  kernel.limit = 0;
  EXPECT_FALSE(DmaBufs(kernel).work()) << "it refuses a page";
  kernel.limit = page;
  EXPECT_TRUE(DmaBufs(kernel).work());
  kernel.copies = true;
  EXPECT_FALSE(DmaBufs(kernel).work()) << "what is written to the buffer is not in the file";
}

TEST(DmaBufs, given_a_memory_file_when_made_then_the_buffer_has_its_bytes_and_keeps_them) {
  test::MemfdDmaBufs kernel;
  DmaBufs bufs(kernel);
  UniqueFd file = file_of(3 * page);
  ASSERT_EQ(5, ::pwrite(file.get(), "bytes", 5, 2 * page));
  const Result<UniqueFd> buffer = bufs.make(file.get(), 3 * page);
  ASSERT_TRUE(buffer.ok()) << buffer.error().message;
  file.reset();
  EXPECT_EQ(3 * page, bufs.bytes_of(buffer->get()));
  void* const base = ::mmap(nullptr, 3 * page, PROT_READ, MAP_SHARED, buffer->get(), 0);
  ASSERT_NE(MAP_FAILED, base);
  EXPECT_EQ(0, std::memcmp(static_cast<char*>(base) + 2 * page, "bytes", 5));
  ::munmap(base, 3 * page);
}

TEST(DmaBufs, given_more_than_the_kernel_allows_then_limit_and_cure_are_named) {
  test::MemfdDmaBufs kernel;
  kernel.limit = 2 * page;
  DmaBufs bufs(kernel);
  const UniqueFd file = file_of(4 * page);
  EXPECT_TRUE(bufs.make(file.get(), 2 * page).ok());
  const Result<UniqueFd> refused = bufs.make(file.get(), 3 * page);
  ASSERT_FALSE(refused.ok());
  EXPECT_EQ(ErrorCode::unsupported_size, refused.error().code);
  EXPECT_NE(std::string::npos, refused.error().message.find("12288")) << refused.error().message;
  EXPECT_NE(std::string::npos, refused.error().message.find("8192")) << refused.error().message;
  EXPECT_NE(std::string::npos, refused.error().hint.find("size_limit_mb")) << refused.error().hint;
}

TEST(DmaBufs, given_files_that_may_shrink_or_not_be_written_then_they_are_refused) {
  test::MemfdDmaBufs kernel;
  DmaBufs bufs(kernel);
  EXPECT_EQ(ErrorCode::out_of_host_memory, bufs.make(file_of(page, F_SEAL_GROW).get(), page).error().code);
  EXPECT_EQ(ErrorCode::out_of_host_memory,
            bufs.make(file_of(page, F_SEAL_SHRINK | F_SEAL_WRITE).get(), page).error().code);
  kernel.present = false;
  EXPECT_EQ(ErrorCode::unsupported_feature, bufs.make(file_of(page).get(), page).error().code);
}

TEST(DmaBufs, given_this_machine_when_they_work_then_one_can_be_made_and_is_known_as_such) {
  DmaBufs bufs(linux_dma_bufs());
  const UniqueFd file = file_of(2 * page);
  EXPECT_EQ(0U, dma_buf_bytes(file.get())) << "a memory file is none";
  EXPECT_EQ(0U, dma_buf_bytes(-1));
  const Result<UniqueFd> buffer = bufs.make(file.get(), 2 * page);
  EXPECT_EQ(bufs.work(), buffer.ok());
  if (buffer.ok()) {
    EXPECT_EQ(2 * page, dma_buf_bytes(buffer->get()));
  }
}

class OfferedDmaBuf : public ::testing::Test {
 protected:
  void SetUp() override {
    UniqueFd fd = std::move(*make_shared_file(SharedKind::host, *make_ipc_token(), page));
    const SharedFileIdentity identity = *identify_shared_file(fd.get());
    table_.add(7, std::make_unique<ExportedFile>(std::move(fd), identity, page));
  }

  test::MemfdDmaBufs kernel_;
  DmaBufs bufs_{kernel_};
  ExportTable table_;
};

TEST_F(OfferedDmaBuf, given_one_type_offered_then_the_other_is_refused) {
  ASSERT_TRUE(table_.offer(7, {.dma_buf = true}, bufs_).ok());
  EXPECT_TRUE(table_.descriptor(7, ExternalType::dma_buf).ok());
  EXPECT_EQ(ErrorCode::invalid_argument, table_.descriptor(7, ExternalType::opaque).error().code);
}

TEST_F(OfferedDmaBuf,
       given_both_types_offered_then_each_has_a_descriptor_that_stays_and_ends_with_the_memory) {
  ASSERT_TRUE(table_.offer(7, {.opaque = true, .dma_buf = true}, bufs_).ok());
  const int buffer = *table_.descriptor(7, ExternalType::dma_buf);
  const int file = *table_.descriptor(7, ExternalType::opaque);
  EXPECT_NE(buffer, file);
  EXPECT_EQ(buffer, *table_.descriptor(7, ExternalType::dma_buf));
  EXPECT_EQ(1U, kernel_.created);
  EXPECT_TRUE(table_.put({buffer, std::nullopt}).ok()) << "the text allows it";
  EXPECT_NE(-1, ::fcntl(buffer, F_GETFD)) << "and it stays the driver's";
  table_.remove(7);
  EXPECT_EQ(-1, ::fcntl(buffer, F_GETFD));
  EXPECT_EQ(-1, ::fcntl(file, F_GETFD));
}

TEST_F(OfferedDmaBuf, given_an_application_that_closed_it_then_another_is_given_and_no_number_is_lost) {
  ASSERT_TRUE(table_.offer(7, {.dma_buf = true}, bufs_).ok());
  const int closed = *table_.descriptor(7, ExternalType::dma_buf);
  const UniqueFd foreign(::memfd_create("foreign", MFD_CLOEXEC));
  ASSERT_EQ(closed, ::dup2(foreign.get(), closed));
  const int again = *table_.descriptor(7, ExternalType::dma_buf);
  EXPECT_NE(closed, again);
  EXPECT_EQ(page, bufs_.bytes_of(again));
  ASSERT_EQ(0, ::close(again));
  ASSERT_EQ(again, ::dup2(foreign.get(), again));
  table_.remove(7);
  EXPECT_EQ(1, ::write(closed, "x", 1)) << "somebody else's file was closed";
  EXPECT_EQ(1, ::write(again, "x", 1)) << "somebody else's file was closed";
  ::close(closed);
  ::close(again);
}

TEST_F(OfferedDmaBuf, given_a_buffer_that_cannot_be_made_then_nothing_is_offered) {
  kernel_.limit = 0;
  EXPECT_FALSE(table_.offer(7, {.dma_buf = true}, bufs_).ok());
  EXPECT_FALSE(table_.descriptor(7, ExternalType::dma_buf).ok());
}

}  // namespace
}  // namespace datum
