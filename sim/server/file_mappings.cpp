#include "sim/server/file_mappings.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>

#include <fmt/format.h>

namespace datum::sim {

namespace {

bool may_write(board::DmaAccess access) {
  return (static_cast<unsigned>(access) & static_cast<unsigned>(board::DmaAccess::write)) != 0;
}

}  // namespace

Result<FileMappings::Whole> FileMappings::map_whole(int fd, std::uint64_t file_bytes, bool writable,
                                                    bool stays) {
  void* const base =
      ::mmap(nullptr, file_bytes, writable ? PROT_READ | PROT_WRITE : PROT_READ, MAP_SHARED, fd, 0);
  if (base == MAP_FAILED) {
    const int number = errno;
    const auto code = number == ENOMEM ? ErrorCode::out_of_host_memory : ErrorCode::insufficient_permissions;
    return Error{code, number, fmt::format("the file cannot be mapped: {}", std::strerror(number)), {}};
  }
  ::madvise(base, file_bytes, MADV_DONTDUMP);  // it is the client's
  return Whole{std::make_shared<const Mapping>(base, file_bytes), writable, stays};
}

Result<FileMappings::Whole> FileMappings::look_up(int fd, std::uint64_t needed_bytes) {
  struct stat status {};

  // Only memory: an access to a file of a slow or evil file system could keep the board waiting.
  const int seals = ::fcntl(fd, F_GET_SEALS);
  if (seals < 0 || ::fstat(fd, &status) != 0 || !S_ISREG(status.st_mode)) {
    return make_error(ErrorCode::invalid_argument, "the descriptor is no memory file");
  }
  const auto file_bytes = static_cast<std::uint64_t>(status.st_size);
  if (file_bytes < needed_bytes) {
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("the range ends at byte {} of a file of {} bytes", needed_bytes, file_bytes));
  }
  const bool writable = (::fcntl(fd, F_GETFL) & O_ACCMODE) == O_RDWR;
  std::erase_if(files_, [](const auto& entry) { return entry.second.mapping.expired(); });
  auto& known = files_[{status.st_dev, status.st_ino}];
  if (auto mapping = known.mapping.lock();
      mapping != nullptr && mapping->size_bytes() >= needed_bytes && (known.writable || !writable)) {
    return Whole{std::move(mapping), known.writable && writable, known.stays};
  }
  auto whole = map_whole(fd, file_bytes, writable, (seals & F_SEAL_SHRINK) != 0);
  if (whole) {
    known = {whole->mapping, whole->writable, whole->stays};
  }
  return whole;
}

Result<HostRange> FileMappings::range(int fd, std::uint64_t offset, std::uint64_t bytes,
                                      board::DmaAccess access) {
  if (bytes == 0 || offset + bytes < offset) {
    return make_error(ErrorCode::invalid_argument, fmt::format("no range of a file: {} + {}", offset, bytes));
  }
  auto whole = look_up(fd, offset + bytes);
  if (!whole) {
    return std::move(whole).error();
  }
  if (may_write(access) && !whole->writable) {
    return make_error(ErrorCode::insufficient_permissions,
                      "a file that was opened for reading cannot be written by the board");
  }
  std::byte* const first = whole->mapping->data() + offset;
  return HostRange::of_shared(std::move(whole->mapping), {first, bytes}, whole->stays);
}

}  // namespace datum::sim
