// The list behind a handle of several objects: what was written is read, and what cannot be is refused.
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <vector>

#include <gtest/gtest.h>

#include <datum/base/address.hpp>

#include "driver/memory/shared_range.hpp"
#include "tests/unit/memory/sizes.hpp"

namespace datum {
namespace {

SharedPart part_of(SharedKind kind, std::uint64_t file_bytes, std::uint64_t offset, std::uint64_t bytes) {
  return {{kind, *make_ipc_token(), file_bytes, 7, 8}, offset, bytes};
}

Result<SharedRange> written_and_read(std::uint64_t size_bytes, const std::vector<SharedPart>& parts) {
  Result<UniqueFd> file = SharedRange::write(*make_ipc_token(), size_bytes, {11, 12}, parts);
  if (!file.ok()) {
    return std::move(file).error();
  }
  const Result<SharedFileIdentity> identity = identify_shared_file(file->get());
  EXPECT_TRUE(identity.ok());
  return SharedRange::read(file->get(), *identity);
}

TEST(SharedRange, given_parts_when_written_then_they_are_read_as_they_were) {
  std::vector<SharedPart> parts;
  for (std::uint64_t index = 0; index < 1000; ++index) {
    parts.push_back(part_of(index % 2 != 0 ? SharedKind::host : SharedKind::device, 10 * page,
                            (index % 7) * page, (1 + index % 3) * page));
  }
  std::uint64_t bytes = 0;
  for (const SharedPart& part : parts) {
    bytes += part.bytes;
  }
  const Result<SharedRange> range = written_and_read(bytes - 5, parts);
  ASSERT_TRUE(range.ok()) << range.error().message;
  EXPECT_EQ(bytes - 5, range->size_bytes());
  EXPECT_EQ((BrokerAddress{11, 12}), range->broker());
  ASSERT_EQ(parts.size(), range->part_count());
  for (std::size_t index = 0; index < parts.size(); ++index) {
    EXPECT_EQ(parts[index].file, range->part(index).file);
    EXPECT_EQ(parts[index].offset, range->part(index).offset);
    EXPECT_EQ(parts[index].bytes, range->part(index).bytes);
  }
}

TEST(SharedRange, given_parts_that_cannot_be_then_the_list_is_refused) {
  const auto refused = [](std::uint64_t size_bytes, const std::vector<SharedPart>& parts) {
    const Result<SharedRange> range = written_and_read(size_bytes, parts);
    return !range.ok() && range.error().code == ErrorCode::invalid_argument;
  };
  const SharedPart good = part_of(SharedKind::host, 4 * page, page, 2 * page);
  EXPECT_FALSE(refused(2 * page, {good}));
  EXPECT_TRUE(refused(2 * page, {})) << "no parts";
  EXPECT_TRUE(refused(0, {good}));
  EXPECT_TRUE(refused(page, {good})) << "more than its size";
  EXPECT_TRUE(refused(3 * page, {good})) << "less than its size";
  EXPECT_TRUE(refused(~0ULL, {good}));
  EXPECT_TRUE(refused(2 * page, {good, good}));
  for (const SharedPart& wrong :
       {part_of(SharedKind::host, 4 * page, 3 * page, 2 * page),
        part_of(SharedKind::host, page, page, 2 * page), part_of(SharedKind::host, 4 * page, 100, 2 * page),
        part_of(SharedKind::host, 4 * page, 0, 2 * page - 1),
        part_of(SharedKind::host, 4 * page, ~0ULL << 12U, 2 * page),
        part_of(SharedKind::events, 4 * page, 0, 2 * page), part_of(SharedKind::range, 4 * page, 0, 2 * page),
        part_of(static_cast<SharedKind>(0), 4 * page, 0, 2 * page)}) {
    EXPECT_TRUE(refused(2 * page, {wrong})) << wrong.offset << " of " << wrong.file.bytes;
  }
}

TEST(SharedRange, given_bytes_that_begin_inside_a_page_then_their_parts_are_its_whole_pages) {
  const std::vector<SharedPart> parts{part_of(SharedKind::host, 4 * page, page, 2 * page)};
  const auto written = [&](std::uint64_t first_byte, std::uint64_t size_bytes) {
    const Result<UniqueFd> file =
        SharedRange::write(*make_ipc_token(), size_bytes, {11, 12}, parts, first_byte);
    return SharedRange::read(file->get(), *identify_shared_file(file->get()));
  };
  const Result<SharedRange> range = written(100, page);
  ASSERT_TRUE(range.ok()) << range.error().message;
  EXPECT_EQ(100U, range->first_byte());
  EXPECT_EQ(page, range->size_bytes());
  EXPECT_EQ(2 * page, range->span_bytes());
  EXPECT_TRUE(written(page - 1, page + 1).ok());
  EXPECT_FALSE(written(page, page).ok()) << "it would begin behind the first page";
  EXPECT_FALSE(written(~0ULL, page).ok());
  EXPECT_FALSE(written(100, 2 * page).ok()) << "its end is behind the parts";
  EXPECT_FALSE(written(100, page - 100).ok()) << "a page too many";
}

TEST(SharedRange, given_a_list_then_nobody_can_change_it) {
  const Result<UniqueFd> file = SharedRange::write(*make_ipc_token(), page, {1, 2},
                                                   std::vector{part_of(SharedKind::host, page, 0, page)});
  ASSERT_TRUE(file.ok());
  EXPECT_EQ(-1, ::pwrite(file->get(), "x", 1, 0));
  EXPECT_EQ(MAP_FAILED, ::mmap(nullptr, page, PROT_READ | PROT_WRITE, MAP_SHARED, file->get(), 0));
  EXPECT_EQ(-1, ::ftruncate(file->get(), 0));
}

TEST(SharedRange, given_a_file_that_says_to_be_a_list_and_is_none_then_it_is_refused) {
  const std::string label = shared_file_label(SharedKind::range, *make_ipc_token());
  const UniqueFd file(::memfd_create(label.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(0, ::ftruncate(file.get(), page));
  ASSERT_TRUE(seal_shared_file(file.get()).ok());
  EXPECT_FALSE(identify_shared_file(file.get()).ok()) << "it can be written";
  const UniqueFd fixed(::memfd_create(label.c_str(), MFD_CLOEXEC | MFD_ALLOW_SEALING));
  ASSERT_EQ(0, ::ftruncate(fixed.get(), page));
  ASSERT_EQ(0, ::fcntl(fixed.get(), F_ADD_SEALS, F_SEAL_WRITE));
  ASSERT_TRUE(seal_shared_file(fixed.get()).ok());
  const Result<SharedFileIdentity> identity = identify_shared_file(fixed.get());
  ASSERT_TRUE(identity.ok());
  EXPECT_FALSE(SharedRange::read(fixed.get(), *identity).ok()) << "its bytes are zero";
  const UniqueFd memory = std::move(*make_shared_file(SharedKind::host, *make_ipc_token(), page));
  EXPECT_FALSE(SharedRange::read(memory.get(), *identify_shared_file(memory.get())).ok());
}

}  // namespace
}  // namespace datum
