#include "sim/memory/dram_array.hpp"

#include <algorithm>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <iterator>
#include <string>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/address.hpp>
#include <datum/base/memory_file.hpp>

namespace datum::sim {

namespace {

Error host_error(const char* what, int number) {
  return Error{ErrorCode::out_of_host_memory, number, fmt::format("{}: {}", what, std::strerror(number)), {}};
}

Result<UniqueFd> make_file(const char* name, std::uint64_t bytes) {
  UniqueFd file{::memfd_create(name, MFD_CLOEXEC | MFD_ALLOW_SEALING)};
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
    return host_error("the board's DRAM cannot be mapped", errno);
  }
  // A core dump or a child has no use for gigabytes of device memory.
  ::madvise(base, bytes, MADV_DONTDUMP);
  return DramArray{std::move(file).value(), Mapping{base, bytes}};
}

/// Copies what was touched in [`first`, `first` + `bytes`) as the array shows it; `file` is what it shows
/// there and tells where holes are.
Status DramArray::copy_touched_pages(int file, std::uint64_t first, std::uint64_t bytes, int to_file) {
  const bool to_own = to_file == file_.get();
  const std::uint64_t from_base = file == file_.get() ? first : 0;
  const std::uint64_t to_base = to_own ? first : 0;
  std::uint64_t at = 0;
  while (at < bytes) {
    const auto data = ::lseek(file, static_cast<off_t>(from_base + at), SEEK_DATA);
    if (data < 0) {
      break;  // ENXIO: only a hole is left
    }
    const auto start = static_cast<std::uint64_t>(data) - from_base;
    if (start >= bytes) {
      break;
    }
    const auto hole = ::lseek(file, data, SEEK_HOLE);
    const auto end = hole < 0 ? bytes : std::min(bytes, static_cast<std::uint64_t>(hole) - from_base);
    if (!write_all(to_file, to_base + start, range(first + start, end - start))) {
      return host_error("device memory cannot be moved for an export", errno);
    }
    at = end;
  }
  return {};
}

Status DramArray::show(int file, std::uint64_t file_offset, std::uint64_t first, std::uint64_t bytes) {
  void* const at = mapping_.data() + first;
  void* const base = ::mmap(at, bytes, PROT_READ | PROT_WRITE, MAP_SHARED | MAP_NORESERVE | MAP_FIXED, file,
                            static_cast<off_t>(file_offset));
  if (base == MAP_FAILED) {
    return host_error("device memory cannot be mapped anew for an export", errno);
  }
  ::madvise(base, bytes, MADV_DONTDUMP);
  return {};
}

Result<UniqueFd> DramArray::export_range(std::uint64_t first, std::uint64_t bytes) {
  if (bytes == 0 || !is_aligned(first | bytes, small_page_bytes) || first > size_bytes() ||
      bytes > size_bytes() - first) {
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("device memory [{:#x}, +{:#x}) is not a range of whole 4 KiB pages of {:#x} bytes", first,
                    bytes, size_bytes()));
  }
  auto found = exports_.find(first);
  if (found == exports_.end() || found->second.bytes != bytes) {
    if (auto status = take_back(first, bytes); !status) {
      return std::move(status).error();
    }
    auto file = make_file("datum-export", bytes);
    if (!file) {
      return std::move(file).error();
    }
    if (auto status = copy_touched_pages(file_.get(), first, bytes, file->get()); !status) {
      return std::move(status).error();
    }
    if (auto status = show(file->get(), 0, first, bytes); !status) {
      return std::move(status).error();
    }
    // Nobody looks at these pages of the array's file while the export stands.
    ::fallocate(file_.get(), FALLOC_FL_PUNCH_HOLE | FALLOC_FL_KEEP_SIZE, static_cast<off_t>(first),
                static_cast<off_t>(bytes));
    found = exports_.emplace(first, Export{bytes, std::move(file).value()}).first;
  }
  UniqueFd copy{::fcntl(found->second.file.get(), F_DUPFD_CLOEXEC, 0)};
  if (!copy.valid()) {
    return host_error("no descriptor left for an export", errno);
  }
  return copy;
}

std::uint64_t DramArray::resident_bytes() const noexcept {
  constexpr std::uint64_t block_bytes = 512;  // the unit of st_blocks, whatever the file system

  struct stat status {};

  return ::fstat(file_.get(), &status) == 0 ? static_cast<std::uint64_t>(status.st_blocks) * block_bytes : 0;
}

Status DramArray::take_back(std::uint64_t first, std::uint64_t bytes) {
  auto at = exports_.lower_bound(first);
  if (at != exports_.begin() && std::prev(at)->first + std::prev(at)->second.bytes > first) {
    at = std::prev(at);
  }
  while (at != exports_.end() && at->first < first + bytes) {
    auto& [base, shared] = *at;
    if (auto status = copy_touched_pages(shared.file.get(), base, shared.bytes, file_.get()); !status) {
      return status;
    }
    if (auto status = show(file_.get(), base, base, shared.bytes); !status) {
      return status;
    }
    at = exports_.erase(at);
  }
  return {};
}

}  // namespace datum::sim
