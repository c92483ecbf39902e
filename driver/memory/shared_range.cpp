#include "driver/memory/shared_range.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <unistd.h>
#include <utility>
#include <vector>

#include <fmt/format.h>

#include <datum/base/address.hpp>
#include <datum/base/memory_file.hpp>

#include "driver/memory/host_limits.hpp"

namespace datum {
namespace {

constexpr std::uint64_t range_magic = 0x4547'4e52'4d54'4144;  // "DATMRNGE"
constexpr std::uint64_t range_layout = 2;                     // others are not understood
constexpr std::uint64_t most_bytes = 1ULL << 47U;             // what a process can address

/// The file: one head, then the parts. Fixed sizes, no gaps.
struct Head {
  std::uint64_t magic = range_magic;
  std::uint64_t layout = range_layout;
  std::uint64_t size_bytes = 0;
  std::uint64_t part_count = 0;
  std::int64_t process = 0;
  std::uint64_t broker = 0;
  std::uint64_t first_byte = 0;
};

struct RangeEntry {
  std::uint64_t kind = 0;
  std::array<std::uint8_t, 16> token{};
  std::uint64_t file_bytes = 0;
  std::uint64_t file_system = 0;
  std::uint64_t inode = 0;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

static_assert(std::has_unique_object_representations_v<Head> &&
              std::has_unique_object_representations_v<RangeEntry>);

RangeEntry range_entry_of(const SharedPart& part) noexcept {
  return {static_cast<std::uint64_t>(part.file.kind),
          part.file.token.bytes,
          part.file.bytes,
          part.file.file_system,
          part.file.inode,
          part.offset,
          part.bytes};
}

bool is_possible(const RangeEntry& entry) noexcept {
  const bool memory = entry.kind == static_cast<std::uint64_t>(SharedKind::device) ||
                      entry.kind == static_cast<std::uint64_t>(SharedKind::host);
  return memory && entry.bytes != 0 &&
         is_aligned(entry.file_bytes | entry.offset | entry.bytes, small_page_bytes) &&
         entry.offset < entry.file_bytes && entry.bytes <= entry.file_bytes - entry.offset;
}

Error no_file(int error, std::size_t parts) {
  return no_host_memory(fmt::format("no file to be had for a list of {} parts of shared memory", parts),
                        error);
}

Error no_range(std::string_view why) {
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("the handle lists parts of memory in a way that cannot be: {}", why),
                    "both processes need the same version of the driver");
}

}  // namespace

Result<UniqueFd> SharedRange::write(const IpcToken& token, std::uint64_t size_bytes,
                                    const BrokerAddress& broker, std::span<const SharedPart> parts,
                                    std::uint64_t first_byte) {
  Head head;
  head.size_bytes = size_bytes;
  head.part_count = parts.size();
  head.process = broker.process;
  head.broker = broker.number;
  head.first_byte = first_byte;
  std::vector<std::byte> content(align_up(sizeof head + parts.size() * sizeof(RangeEntry), small_page_bytes));
  std::memcpy(content.data(), &head, sizeof head);
  std::byte* at = content.data() + sizeof head;
  for (const SharedPart& part : parts) {
    const RangeEntry entry = range_entry_of(part);
    std::memcpy(at, &entry, sizeof entry);
    at += sizeof entry;
  }
  UniqueFd file = make_memory_file(shared_file_label(SharedKind::range, token).c_str());
  const int error = file.valid() ? resize_memory_file(file.get(), content.size()) : errno;
  if (error != 0) {
    return no_file(error, parts.size());
  }
  for (std::size_t done = 0; done < content.size();) {
    const ssize_t part =
        ::pwrite(file.get(), content.data() + done, content.size() - done, static_cast<off_t>(done));
    if (part <= 0) {
      return no_file(part == 0 ? ENOSPC : errno, parts.size());
    }
    done += static_cast<std::size_t>(part);
  }
  if (::fcntl(file.get(), F_ADD_SEALS, F_SEAL_WRITE) != 0) {
    return no_file(errno, parts.size());
  }
  if (Status sealed = seal_shared_file(file.get()); !sealed.ok()) {
    return std::move(sealed).error();
  }
  return file;
}

Result<SharedRange> SharedRange::read(int fd, const SharedFileIdentity& file) {
  if (file.kind != SharedKind::range) {
    return no_range("it is of memory itself");
  }
  void* const base = ::mmap(nullptr, file.bytes, PROT_READ, MAP_PRIVATE, fd, 0);
  if (base == MAP_FAILED) {
    return no_host_memory(fmt::format("{} bytes of a list of shared memory cannot be mapped", file.bytes),
                          errno);
  }
  SharedRange range;
  range.list_ = Mapping(base, file.bytes);
  Head head;
  std::memcpy(&head, base, sizeof head);  // a file has a page at least
  if (head.magic != range_magic || head.layout != range_layout) {
    return no_range("its version is another");
  }
  if (head.size_bytes == 0 || head.size_bytes > most_bytes || head.first_byte >= small_page_bytes ||
      head.part_count > (file.bytes - sizeof head) / sizeof(RangeEntry)) {
    return no_range(
        fmt::format("{} parts in {} bytes make up {} bytes", head.part_count, file.bytes, head.size_bytes));
  }
  range.size_bytes_ = head.size_bytes;
  range.first_byte_ = head.first_byte;
  range.part_count_ = head.part_count;
  range.broker_ = {static_cast<std::int32_t>(head.process), head.broker};
  if (Status possible = range.check_parts(); !possible.ok()) {
    return std::move(possible).error();
  }
  return range;
}

Status SharedRange::check_parts() const {
  const std::uint64_t wanted = span_bytes();
  std::uint64_t bytes = 0;
  for (std::uint64_t index = 0; index < part_count_; ++index) {
    RangeEntry entry;
    std::memcpy(&entry, list_.data() + sizeof(Head) + index * sizeof entry, sizeof entry);
    if (!is_possible(entry) || entry.bytes > wanted - bytes) {
      return no_range(fmt::format("part {} is {} bytes at {} of a file of {}", index, entry.bytes,
                                  entry.offset, entry.file_bytes));
    }
    bytes += entry.bytes;
  }
  return bytes == wanted ? Status{}
                         : no_range(fmt::format("its parts are {} bytes and not {}", bytes, wanted));
}

SharedPart SharedRange::part(std::uint64_t index) const noexcept {
  RangeEntry entry;
  std::memcpy(&entry, list_.data() + sizeof(Head) + index * sizeof entry, sizeof entry);
  SharedPart part;
  part.file = {
      static_cast<SharedKind>(entry.kind), {entry.token}, entry.file_bytes, entry.file_system, entry.inode};
  part.offset = entry.offset;
  part.bytes = entry.bytes;
  return part;
}

}  // namespace datum
