#include "vfio_backend/region_bar.hpp"

#include <algorithm>
#include <cstring>
#include <sys/mman.h>
#include <utility>

namespace datum::vfio {

namespace {

constexpr std::size_t word_bytes = sizeof(std::uint64_t);

bool is_word(const volatile std::byte* at, std::size_t left) {
  return left >= word_bytes && reinterpret_cast<std::uintptr_t>(at) % word_bytes == 0;
}

// Device memory is not ordinary memory: memcpy may access bytes twice or in sizes of its own choice.
void copy_from_device(std::span<std::byte> to, const volatile std::byte* from) {
  for (std::size_t done = 0; done < to.size();) {
    if (is_word(from + done, to.size() - done)) {
      const std::uint64_t word = *reinterpret_cast<const volatile std::uint64_t*>(from + done);
      std::memcpy(to.data() + done, &word, word_bytes);
      done += word_bytes;
    } else {
      to[done] = from[done];
      ++done;
    }
  }
}

void copy_to_device(volatile std::byte* to, std::span<const std::byte> from) {
  for (std::size_t done = 0; done < from.size();) {
    if (is_word(to + done, from.size() - done)) {
      std::uint64_t word = 0;
      std::memcpy(&word, from.data() + done, word_bytes);
      *reinterpret_cast<volatile std::uint64_t*>(to + done) = word;
      done += word_bytes;
    } else {
      to[done] = from[done];
      ++done;
    }
  }
}

}  // namespace

RegionBar::RegionBar(Syscalls& syscalls, int device_fd, const RegionLayout& layout)
    : syscalls_(syscalls),
      device_fd_(device_fd),
      size_bytes_(layout.size_bytes),
      file_offset_(layout.file_offset) {
  const int protection = (layout.readable ? PROT_READ : 0) | (layout.writable ? PROT_WRITE : 0);
  if (protection != (PROT_READ | PROT_WRITE)) {
    return;
  }
  for (const MappableArea& area : layout.areas) {
    void* base = nullptr;
    if (syscalls.mmap(device_fd, layout.file_offset + area.offset, area.bytes, protection, &base) == 0) {
      areas_.push_back({area.offset, area.bytes, OwnedMapping(syscalls, base, area.bytes)});
    }
  }
  if (!areas_.empty() && areas_.front().offset == 0) {
    front_ = areas_.front().mapping.data();
    front_bytes_ = areas_.front().bytes;
  }
}

std::uint64_t RegionBar::mapped_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const MappedArea& area : areas_) {
    bytes += area.bytes;
  }
  return bytes;
}

Status RegionBar::abandon() noexcept {
  for (const MappedArea& area : areas_) {
    if (const int result = syscalls_.cover(area.mapping.data(), area.bytes); result < 0) {
      return Error{ErrorCode::out_of_host_memory, -result, "a window onto the card cannot be covered", {}};
    }
  }
  return {};
}

RegionBar::Stretch RegionBar::stretch_at(std::uint64_t offset, std::uint64_t most_bytes) const noexcept {
  const auto after = std::ranges::upper_bound(areas_, offset, {}, &MappedArea::offset);
  if (after != areas_.begin()) {
    const MappedArea& area = *std::prev(after);
    const std::uint64_t into = offset - area.offset;
    if (into < area.bytes) {
      return {area.mapping.data() + into, std::min(most_bytes, area.bytes - into)};
    }
  }
  return {nullptr, after == areas_.end() ? most_bytes : std::min(most_bytes, after->offset - offset)};
}

void RegionBar::read_file(std::uint64_t offset, std::span<std::byte> to) noexcept {
  while (!to.empty()) {
    const ssize_t got = syscalls_.pread(device_fd_, to.data(), to.size(), file_offset_ + offset);
    if (got <= 0) {
      std::ranges::fill(to, std::byte{0xff});
      return;
    }
    const auto done = std::min(static_cast<std::size_t>(got), to.size());
    to = to.subspan(done);
    offset += done;
  }
}

void RegionBar::write_file(std::uint64_t offset, std::span<const std::byte> from) noexcept {
  while (!from.empty()) {
    const ssize_t put = syscalls_.pwrite(device_fd_, from.data(), from.size(), file_offset_ + offset);
    if (put <= 0) {
      return;
    }
    const auto done = std::min(static_cast<std::size_t>(put), from.size());
    from = from.subspan(done);
    offset += done;
  }
}

std::uint64_t RegionBar::read_elsewhere(std::uint64_t offset, std::size_t bytes) noexcept {
  std::uint64_t value = ~std::uint64_t{0};
  if (!inside(offset, bytes)) {
    return value;
  }
  const Stretch stretch = stretch_at(offset, bytes);
  if (stretch.at == nullptr || stretch.bytes < bytes) {
    value = 0;
    read_file(offset, {reinterpret_cast<std::byte*>(&value), bytes});
    return value;
  }
  return bytes == sizeof(std::uint32_t) ? *reinterpret_cast<const volatile std::uint32_t*>(stretch.at)
                                        : *reinterpret_cast<const volatile std::uint64_t*>(stretch.at);
}

void RegionBar::write_elsewhere(std::uint64_t offset, std::uint64_t value, std::size_t bytes) noexcept {
  if (!inside(offset, bytes)) {
    return;
  }
  const Stretch stretch = stretch_at(offset, bytes);
  if (stretch.at == nullptr || stretch.bytes < bytes) {
    write_file(offset, {reinterpret_cast<const std::byte*>(&value), bytes});
  } else if (bytes == sizeof(std::uint32_t)) {
    *reinterpret_cast<volatile std::uint32_t*>(stretch.at) = static_cast<std::uint32_t>(value);
  } else {
    *reinterpret_cast<volatile std::uint64_t*>(stretch.at) = value;
  }
}

void RegionBar::read_block(std::uint64_t offset, std::span<std::byte> to) noexcept {
  if (!inside(offset, to.size())) {
    std::ranges::fill(to, std::byte{0xff});
    return;
  }
  while (!to.empty()) {
    const Stretch stretch = stretch_at(offset, to.size());
    const auto bytes = static_cast<std::size_t>(stretch.bytes);
    if (stretch.at == nullptr) {
      read_file(offset, to.first(bytes));
    } else {
      copy_from_device(to.first(bytes), stretch.at);
    }
    to = to.subspan(bytes);
    offset += bytes;
  }
}

void RegionBar::write_block(std::uint64_t offset, std::span<const std::byte> from) noexcept {
  if (!inside(offset, from.size())) {
    return;
  }
  while (!from.empty()) {
    const Stretch stretch = stretch_at(offset, from.size());
    const auto bytes = static_cast<std::size_t>(stretch.bytes);
    if (stretch.at == nullptr) {
      write_file(offset, from.first(bytes));
    } else {
      copy_to_device(stretch.at, from.first(bytes));
    }
    from = from.subspan(bytes);
    offset += bytes;
  }
}

}  // namespace datum::vfio
