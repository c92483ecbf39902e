// DMA mappings: by the seam's rules, which are stricter than the kernel's.
#include <cstring>
#include <fcntl.h>
#include <linux/vfio.h>
#include <sys/mman.h>
#include <thread>
#include <unistd.h>

#include <datum/base/unique_fd.hpp>

#include "tests/unit/vfio/card_test.hpp"
#include "vfio_backend/uapi/iommufd.hpp"

namespace datum::test {

class Mappings : public EitherInterface {
 protected:
  void SetUp() override { open_it(); }

  Status map(std::uint64_t iova, std::span<std::byte> host,
             board::DmaAccess access = board::DmaAccess::read_write) {
    return function_->dma_map(Iova{iova}, host, access);
  }

  static ErrorCode code(const Status& status) { return status ? ErrorCode::unknown : status.error().code; }

  /// Lets the card copy; what it says.
  std::uint32_t copy(std::uint64_t from, std::uint64_t to, std::uint32_t bytes) {
    registers().write64(RegisterCard::source, from);
    registers().write64(RegisterCard::destination, to);
    registers().write32(RegisterCard::length, bytes);
    registers().write32(RegisterCard::go, 1);
    return registers().read32(RegisterCard::outcome);
  }

  static UniqueFd file_of(std::uint64_t bytes) {
    UniqueFd file(::memfd_create("memory", MFD_CLOEXEC));
    EXPECT_EQ(::ftruncate(file.get(), static_cast<off_t>(bytes)), 0);
    return file;
  }
};

DATUM_THROUGH_EITHER(Mappings);

TEST_P(Mappings, the_card_reaches_what_is_mapped_where_the_caller_wanted_it) {
  Mapping from = host_pages(0x2000);
  Mapping to = host_pages(0x2000);
  std::memset(from.data(), 0x5a, 0x2000);
  ASSERT_TRUE(map(0x10000, from.span(), board::DmaAccess::read));
  ASSERT_TRUE(map(0x7fff000000, to.span(), board::DmaAccess::write));
  EXPECT_EQ(copy(0x10100, 0x7fff000040, 0x1800), RegisterCard::copied);
  EXPECT_EQ(std::memcmp(to.data() + 0x40, from.data(), 0x1800), 0);
  EXPECT_EQ(to.data()[0x3f], std::byte{0});
}

TEST_P(Mappings, access_that_was_not_granted_is_refused_to_the_card) {
  Mapping read_only = host_pages(0x1000);
  Mapping write_only = host_pages(0x1000);
  ASSERT_TRUE(map(0x10000, read_only.span(), board::DmaAccess::read));
  ASSERT_TRUE(map(0x20000, write_only.span(), board::DmaAccess::write));
  EXPECT_EQ(copy(0x20000, 0x20000, 16), RegisterCard::source_refused);
  EXPECT_EQ(copy(0x10000, 0x10000, 16), RegisterCard::destination_refused);
  EXPECT_EQ(copy(0x10000, 0x20000, 16), RegisterCard::copied);
}

TEST_P(Mappings, after_unmap_the_card_reaches_nothing) {
  Mapping host = host_pages(0x1000);
  ASSERT_TRUE(map(0x10000, host.span()));
  ASSERT_TRUE(function_->dma_unmap(Iova{0x10000}, 0x1000));
  EXPECT_EQ(copy(0x10000, 0x10000, 16), RegisterCard::source_refused);
  EXPECT_EQ(kernel_.machine.locked_bytes, 0U);
}

TEST_P(Mappings, ranges_that_are_crooked_empty_outside_or_taken_are_invalid) {
  Mapping host = host_pages(0x10000);
  const auto pages = host.span();
  EXPECT_EQ(code(map(0x1001, pages)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(map(0x1000, pages.first(100))), ErrorCode::invalid_argument);
  EXPECT_EQ(code(map(0x1000, pages.subspan(1, 4096))), ErrorCode::invalid_argument);
  EXPECT_EQ(code(map(0x1000, pages.first(0))), ErrorCode::invalid_argument);
  EXPECT_EQ(code(map(0xfee00000, pages)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(map(0xfedff000, pages)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(map(0x8000000000, pages)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(map(0xfffffffffffff000, pages)), ErrorCode::invalid_argument);
  ASSERT_TRUE(map(0x10000, pages));
  for (const std::uint64_t iova : {0x10000ULL, 0x1f000ULL, 0x1000ULL}) {
    const Status overlap = map(iova, pages);
    EXPECT_EQ(code(overlap), ErrorCode::invalid_argument);
    EXPECT_TRUE(has(overlap.error().message, "overlaps the one at 0x10000"));
  }
  EXPECT_TRUE(function_->dma_unmap(Iova{0x10000}, 0x10000));
}

TEST_P(Mappings, unmap_undoes_exactly_one_map) {
  Mapping host = host_pages(0x4000);
  ASSERT_TRUE(map(0x10000, host.span().first(0x2000)));
  ASSERT_TRUE(map(0x12000, host.span().last(0x2000)));
  // The kernel alone would take the last one, and unmap both.
  for (const auto& [iova, bytes] : {std::pair{0x10000ULL, 0x1000ULL},
                                    {0x11000ULL, 0x1000ULL},
                                    {0x10000ULL, 0x4000ULL},
                                    {0x30000ULL, 0x1000ULL},
                                    {0x10000ULL, 0ULL}}) {
    EXPECT_EQ(code(function_->dma_unmap(Iova{iova}, bytes)), ErrorCode::invalid_argument)
        << iova << " " << bytes;
  }
  EXPECT_EQ(card_->mapping_count(), 2U);
  EXPECT_TRUE(function_->dma_unmap(Iova{0x10000}, 0x2000));
  EXPECT_EQ(code(function_->dma_unmap(Iova{0x10000}, 0x2000)), ErrorCode::invalid_argument);
  EXPECT_EQ(card_->mapping_count(), 1U);
}

TEST_P(Mappings, a_kernel_that_unmaps_less_than_asked_is_an_error_and_the_mapping_stays) {
  Mapping host = host_pages(0x2000);
  ASSERT_TRUE(map(0x10000, host.span()));
  kernel_.machine.traits.unmap_shortfall_bytes = 0x1000;
  const Status status = function_->dma_unmap(Iova{0x10000}, 0x2000);
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::unknown);
  EXPECT_TRUE(has(status.error().message, "of 8192 bytes at IOVA 0x10000 the kernel unmapped 4096"));
  EXPECT_EQ(code(map(0x10000, host.span())), ErrorCode::invalid_argument);
}

TEST_P(Mappings, memory_that_the_process_may_not_access_that_way_is_refused) {
  Mapping none = host_pages(0x1000, PROT_NONE);
  Mapping read_only = host_pages(0x1000, PROT_READ);
  EXPECT_EQ(code(map(0x1000, none.span(), board::DmaAccess::read)), ErrorCode::insufficient_permissions);
  EXPECT_EQ(code(map(0x1000, read_only.span())), ErrorCode::insufficient_permissions);
  EXPECT_TRUE(map(0x1000, read_only.span(), board::DmaAccess::read));
}

TEST_P(Mappings, more_than_may_be_locked_is_refused_with_limit_and_cure) {
  Mapping host = host_pages(0x20000);
  kernel_.machine.traits.memlock_bytes = 0x10000;
  const Status status = map(0x100000, host.span());
  ASSERT_FALSE(status);
  EXPECT_EQ(status.error().code, ErrorCode::out_of_host_memory);
  EXPECT_EQ(status.error().errno_value, ENOMEM);
  EXPECT_TRUE(has(status.error().message, "RLIMIT_MEMLOCK is 64 KiB")) << status.error().message;
  EXPECT_TRUE(has(status.error().message, card_text));
  EXPECT_TRUE(has(status.error().hint, "limits.d")) << status.error().hint;
  EXPECT_TRUE(map(0x100000, host.span().first(0x10000)));
}

TEST_P(Mappings, the_number_of_mappings_is_limited_in_a_container_only) {
  kernel_.machine.traits.dma_entry_limit = 2;
  Mapping host = host_pages(0x3000);
  ASSERT_TRUE(map(0x10000, host.span().subspan(0, 0x1000)));
  ASSERT_TRUE(map(0x20000, host.span().subspan(0x1000, 0x1000)));
  const Status third = map(0x30000, host.span().subspan(0x2000, 0x1000));
  if (through_iommufd()) {
    EXPECT_TRUE(third);
    return;
  }
  ASSERT_FALSE(third);
  EXPECT_EQ(third.error().code, ErrorCode::out_of_host_memory);
  EXPECT_TRUE(has(third.error().hint, "dma_entry_limit"));
}

TEST_P(Mappings, a_descriptor_can_be_mapped_and_closed) {
  UniqueFd file = file_of(0x4000);
  std::array<std::byte, 16> text{};
  text.fill(std::byte{0x77});
  ASSERT_EQ(::pwrite(file.get(), text.data(), text.size(), 0x1000), 16);
  const UniqueFd kept(::dup(file.get()));
  ASSERT_TRUE(function_->dma_map_fd(Iova{0x10000}, file.get(), 0x1000, 0x2000, board::DmaAccess::read_write));
  file.reset();
  EXPECT_EQ(copy(0x10000, 0x11800, 16), RegisterCard::copied);
  std::array<std::byte, 16> got{};
  ASSERT_EQ(::pread(kept.get(), got.data(), got.size(), 0x2800), 16);
  EXPECT_EQ(got, text);
  EXPECT_TRUE(function_->dma_unmap(Iova{0x10000}, 0x2000));
}

TEST_P(Mappings, a_kernel_that_maps_files_needs_no_mapping_of_the_process) {
  const unsigned before = kernel_.machine.live_mappings;
  UniqueFd file = file_of(0x2000);
  ASSERT_TRUE(function_->dma_map_fd(Iova{0x10000}, file.get(), 0, 0x2000, board::DmaAccess::read_write));
  EXPECT_EQ(kernel_.machine.live_mappings, before + (through_iommufd() ? 0 : 1));
}

TEST_P(Mappings, an_older_kernel_is_given_a_mapping_of_the_process_until_unmap) {
  kernel_.machine.traits.maps_files = false;
  const unsigned before = kernel_.machine.live_mappings;
  UniqueFd file = file_of(0x2000);
  ASSERT_TRUE(function_->dma_map_fd(Iova{0x10000}, file.get(), 0, 0x2000, board::DmaAccess::read_write));
  ASSERT_TRUE(function_->dma_map_fd(Iova{0x20000}, file.get(), 0, 0x1000, board::DmaAccess::read));
  EXPECT_EQ(kernel_.machine.live_mappings, before + 2);
  EXPECT_EQ(copy(0x20000, 0x11000, 64), RegisterCard::copied);
  ASSERT_TRUE(function_->dma_unmap(Iova{0x10000}, 0x2000));
  EXPECT_EQ(kernel_.machine.live_mappings, before + 1);
}

TEST_P(Mappings, descriptors_that_are_none_end_early_or_are_crooked_are_invalid) {
  UniqueFd file = file_of(0x4000);
  const auto map_fd = [&](int fd, std::uint64_t offset, std::uint64_t bytes) {
    return code(function_->dma_map_fd(Iova{0x10000}, fd, offset, bytes, board::DmaAccess::read));
  };
  EXPECT_EQ(map_fd(-1, 0, 0x1000), ErrorCode::invalid_argument);
  EXPECT_EQ(map_fd(file.get(), 0x3000, 0x2000), ErrorCode::invalid_argument);
  EXPECT_EQ(map_fd(file.get(), 0x1001, 0x1000), ErrorCode::invalid_argument);
  EXPECT_EQ(map_fd(file.get(), 0x1000, ~0ULL - 0xfff), ErrorCode::invalid_argument);
  EXPECT_EQ(map_fd(file.get(), 0, 0), ErrorCode::invalid_argument);
  std::array<int, 2> ends{};
  ASSERT_EQ(::pipe2(ends.data(), O_CLOEXEC), 0);
  const UniqueFd out(ends[0]);
  const UniqueFd in(ends[1]);
  EXPECT_EQ(map_fd(out.get(), 0, 0x1000), ErrorCode::invalid_argument);
}

TEST_P(Mappings, a_read_only_descriptor_cannot_be_written_by_the_card) {
  kernel_.machine.traits.maps_files = false;
  UniqueFd file = file_of(0x1000);
  const UniqueFd read_only(
      ::open(("/proc/self/fd/" + std::to_string(file.get())).c_str(), O_RDONLY | O_CLOEXEC));
  EXPECT_EQ(
      code(function_->dma_map_fd(Iova{0x10000}, read_only.get(), 0, 0x1000, board::DmaAccess::read_write)),
      ErrorCode::insufficient_permissions);
  EXPECT_TRUE(function_->dma_map_fd(Iova{0x10000}, read_only.get(), 0, 0x1000, board::DmaAccess::read));
}

TEST_P(Mappings, closing_the_card_gives_all_back) {
  Mapping host = host_pages(0x3000);
  UniqueFd file = file_of(0x1000);
  ASSERT_TRUE(map(0x10000, host.span()));
  ASSERT_TRUE(function_->dma_map_fd(Iova{0x20000}, file.get(), 0, 0x1000, board::DmaAccess::read));
  function_.reset();
  EXPECT_EQ(kernel_.machine.locked_bytes, 0U);
  EXPECT_EQ(card_->mapping_count(), 0U);
}

TEST_P(Mappings, while_the_kernel_is_long_at_one_mapping_others_are_made_and_undone) {
  Mapping host = host_pages(0x3000);
  ASSERT_TRUE(map(0x10000, host.span().first(0x1000)));
  kernel_.hold_ioctl(through_iommufd() ? vfio::uapi::iommu_ioas_map : VFIO_IOMMU_MAP_DMA);
  Status slow = make_error(ErrorCode::unknown, "it is under way");
  std::thread stuck([&] { slow = map(0x20000, host.span().subspan(0x1000, 0x1000)); });
  kernel_.wait_until_held();
  EXPECT_TRUE(map(0x30000, host.span().last(0x1000)));
  EXPECT_EQ(copy(0x10000, 0x30000, 64), RegisterCard::copied);
  EXPECT_TRUE(function_->dma_unmap(Iova{0x10000}, 0x1000));
  EXPECT_EQ(code(map(0x20000, host.span().first(0x1000))), ErrorCode::invalid_argument) << "it is taken";
  EXPECT_EQ(code(function_->dma_unmap(Iova{0x20000}, 0x1000)), ErrorCode::invalid_argument) << "not yet";
  kernel_.let_go();
  stuck.join();
  EXPECT_TRUE(slow) << slow.error().message;
  EXPECT_EQ(copy(0x20000, 0x30000, 64), RegisterCard::copied);
  EXPECT_TRUE(function_->dma_unmap(Iova{0x20000}, 0x1000));
}

TEST_P(Mappings, while_the_kernel_is_long_at_undoing_a_mapping_it_is_taken_and_others_go_on) {
  Mapping host = host_pages(0x2000);
  ASSERT_TRUE(map(0x10000, host.span().first(0x1000)));
  kernel_.hold_ioctl(through_iommufd() ? vfio::uapi::iommu_ioas_unmap : VFIO_IOMMU_UNMAP_DMA);
  Status slow = make_error(ErrorCode::unknown, "it is under way");
  std::thread stuck([&] { slow = function_->dma_unmap(Iova{0x10000}, 0x1000); });
  kernel_.wait_until_held();
  EXPECT_EQ(code(function_->dma_unmap(Iova{0x10000}, 0x1000)), ErrorCode::invalid_argument);
  EXPECT_EQ(code(map(0x10000, host.span().last(0x1000))), ErrorCode::invalid_argument);
  EXPECT_TRUE(map(0x20000, host.span().last(0x1000)));
  kernel_.let_go();
  stuck.join();
  EXPECT_TRUE(slow) << slow.error().message;
  EXPECT_TRUE(map(0x10000, host.span().first(0x1000)));
}

TEST_P(Mappings, a_failed_map_leaves_the_range_free) {
  Mapping host = host_pages(0x1000);
  for (const int error : {ENOMEM, EFAULT, EIO}) {
    kernel_.fail_call(1, error);
    EXPECT_FALSE(map(0x10000, host.span()));
    EXPECT_TRUE(kernel_.failure_given());
  }
  EXPECT_TRUE(map(0x10000, host.span()));
  kernel_.fail_call(1, EIO);
  EXPECT_EQ(code(function_->dma_unmap(Iova{0x10000}, 0x1000)), ErrorCode::unknown);
  EXPECT_TRUE(function_->dma_unmap(Iova{0x10000}, 0x1000)) << "a failed unmap can be tried again";
}

}  // namespace datum::test
