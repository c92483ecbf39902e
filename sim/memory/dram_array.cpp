#include "sim/memory/dram_array.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/address.hpp>
#include <datum/base/memory_file.hpp>

namespace datum::sim {

namespace {

Error host_error(std::string_view what, int number) {
  return Error{ErrorCode::out_of_host_memory, number, fmt::format("{}: {}", what, std::strerror(number)), {}};
}

/// `what` of so many bytes has no place in the address space of the process.
Error no_place(std::string_view what, std::uint64_t bytes, int number) {
  Error error = host_error(fmt::format("{} of {} bytes cannot be mapped", what, bytes), number);
  error.hint =
      "raise the limit of address space (ulimit -v), or choose less memory in the board's address (memory=)";
  return error;
}

Result<UniqueFd> make_file(const std::string& name, std::uint64_t bytes) {
  UniqueFd file = make_memory_file(name.c_str());
  const int error = file.valid() ? resize_memory_file(file.get(), bytes) : errno;
  if (error != 0) {
    return host_error("no memory file to be had for the board's DRAM", error);
  }
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL) != 0) {
    return host_error("the memory file of the board's DRAM cannot be sealed", errno);
  }
  return file;
}

/// pwrite until all is written: the source is mapped memory, the target a memfd, so it ends or fails for
/// good.
bool write_all(int file, std::uint64_t offset, std::span<const std::byte> from) {
  while (!from.empty()) {
    const auto written = ::pwrite(file, from.data(), from.size(), static_cast<off_t>(offset));
    if (written < 0 && errno == EINTR) {
      continue;
    }
    if (written <= 0) {
      return false;
    }
    offset += static_cast<std::uint64_t>(written);
    from = from.subspan(static_cast<std::size_t>(written));
  }
  return true;
}

}  // namespace

Result<DramArray> DramArray::create(std::uint64_t bytes) {
  auto file = make_file("datum-dram", bytes);
  if (!file) {
    return std::move(file).error();
  }
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file->get(), 0);
  if (base == MAP_FAILED) {
    return no_place("the board's DRAM", bytes, errno);
  }
  // A core dump or a child has no use for gigabytes of device memory.
  ::madvise(base, bytes, MADV_DONTDUMP);
  return DramArray{std::move(file).value(), Mapping{base, bytes}};
}

std::byte* DramArray::moved_page(std::uint64_t page) const noexcept {
  const std::uint64_t block = page / block_pages;
  return block < moved_.size() && moved_[block] != nullptr ? (*moved_[block])[page % block_pages] : nullptr;
}

std::span<std::byte> DramArray::run_among_exports(std::uint64_t first,
                                                  std::uint64_t most_bytes) const noexcept {
  const auto cells = [this](std::uint64_t address) {
    std::byte* const moved = moved_page(address / small_page_bytes);
    return moved != nullptr ? moved + address % small_page_bytes : own_.data() + address;
  };
  std::byte* const start = cells(first);
  const std::uint64_t end = first + most_bytes;
  std::uint64_t at = first;
  do {
    at = std::min(end, align_down(at, small_page_bytes) + small_page_bytes);
  } while (at < end && cells(at) == start + (at - first));
  return {start, static_cast<std::size_t>(at - first)};
}

Status DramArray::check(std::span<const board::DeviceRange> ranges) const {
  std::vector<board::DeviceRange> sorted(ranges.begin(), ranges.end());
  std::ranges::sort(sorted, {}, [](const board::DeviceRange& range) { return range.first.offset_bytes; });
  std::uint64_t free_from = 0;
  for (const auto& [start, bytes] : sorted) {
    const std::uint64_t first = start.offset_bytes;
    if (bytes == 0 || !is_aligned(first | bytes, small_page_bytes) || first > size_bytes() ||
        bytes > size_bytes() - first) {
      return make_error(
          ErrorCode::invalid_argument,
          fmt::format("device memory [{:#x}, +{:#x}) is not a range of whole 4 KiB pages of {:#x} bytes",
                      first, bytes, size_bytes()));
    }
    bool exported = first < free_from;
    for (std::uint64_t page = first / small_page_bytes; page < (first + bytes) / small_page_bytes; ++page) {
      exported = exported || moved_page(page) != nullptr;
    }
    if (exported) {
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("device memory [{:#x}, +{:#x}) is exported already", first, bytes));
    }
    free_from = first + bytes;
  }
  return sorted.empty() ? Status{make_error(ErrorCode::invalid_argument, "an export of no memory")}
                        : Status{};
}

/// Holes stay holes.
Status DramArray::copy_touched_pages(const board::DeviceRange& range, int to_file,
                                     std::uint64_t to_offset) const {
  const std::uint64_t first = range.first.offset_bytes;
  const std::uint64_t end = first + range.bytes;
  for (std::uint64_t at = first; at < end;) {
    const auto data = ::lseek(file_.get(), static_cast<off_t>(at), SEEK_DATA);
    if (data < 0 || static_cast<std::uint64_t>(data) >= end) {
      break;  // only a hole is left
    }
    const auto hole = ::lseek(file_.get(), data, SEEK_HOLE);
    const auto start = static_cast<std::uint64_t>(data);
    at = hole < 0 ? end : std::min(end, static_cast<std::uint64_t>(hole));
    if (!write_all(to_file, to_offset + (start - first), {own_.data() + start, at - start})) {
      return host_error("device memory cannot be moved for an export", errno);
    }
  }
  return {};
}

/// All of show() for which memory may run out.
void DramArray::make_room_to_show(const board::DeviceRange& range) {
  moved_.resize((size_bytes() / small_page_bytes + block_pages - 1) / block_pages);
  const std::uint64_t first_page = range.first.offset_bytes / small_page_bytes;
  const std::uint64_t last_page = first_page + range.bytes / small_page_bytes - 1;
  for (std::uint64_t index = first_page / block_pages; index <= last_page / block_pages; ++index) {
    if (moved_[index] == nullptr) {
      moved_[index] = std::make_unique<Block>();
    }
  }
}

void DramArray::show(const board::DeviceRange& range, std::byte* at) noexcept {
  const std::uint64_t first_page = range.first.offset_bytes / small_page_bytes;
  for (std::uint64_t index = 0; index < range.bytes / small_page_bytes; ++index) {
    const auto& block = moved_[(first_page + index) / block_pages];
    (*block)[(first_page + index) % block_pages] = at == nullptr ? nullptr : at + index * small_page_bytes;
  }
}

Result<UniqueFd> DramArray::export_ranges(std::span<const board::DeviceRange> ranges,
                                          std::string_view label) {
  if (auto status = check(ranges); !status) {
    return std::move(status).error();
  }
  std::uint64_t bytes = 0;
  for (const auto& range : ranges) {
    bytes += range.bytes;
  }
  auto file = make_file(std::string(label), bytes);
  if (!file) {
    return std::move(file).error();
  }
  std::uint64_t offset = 0;
  for (const auto& range : ranges) {
    if (auto status = copy_touched_pages(range, file->get(), offset); !status) {
      return std::move(status).error();
    }
    offset += range.bytes;
  }
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE, file->get(), 0);
  if (base == MAP_FAILED) {
    return no_place("device memory for an export", bytes, errno);
  }
  Mapping mapping{base, bytes};
  ::madvise(base, bytes, MADV_DONTDUMP);
  Export made{{ranges.begin(), ranges.end()}, std::move(mapping)};
  std::byte* at = made.mapping.data();
  for (const auto& range : ranges) {
    make_room_to_show(range);
  }
  exports_.emplace(ranges.front().first.offset_bytes, std::move(made));  // before pages are elsewhere
  for (const auto& range : ranges) {
    show(range, at);
    at += range.bytes;
    // Nobody looks at these pages of the array's file while the export stands, and after it they are zero.
    ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE,
                static_cast<off_t>(range.first.offset_bytes), static_cast<off_t>(range.bytes));
  }
  return file;
}

Status DramArray::end_export(std::span<const board::DeviceRange> ranges) {
  const auto found = ranges.empty() ? exports_.end() : exports_.find(ranges.front().first.offset_bytes);
  if (found == exports_.end() || !std::ranges::equal(found->second.ranges, ranges)) {
    return make_error(ErrorCode::invalid_argument, "no export of exactly these ranges stands");
  }
  for (const auto& range : ranges) {
    show(range, nullptr);
  }
  exports_.erase(found);
  return {};
}

std::uint64_t DramArray::resident_bytes() const noexcept {
  constexpr std::uint64_t block_bytes = 512;  // the unit of st_blocks, whatever the file system

  struct stat status {};

  return ::fstat(file_.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_blocks) * block_bytes : 0;
}

}  // namespace datum::sim
