#include "vfio_backend/user/socket_bar.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "vfio_backend/user/limits.hpp"

namespace datum::vfio_user {

bool read_region(Channel& channel, std::uint32_t region, std::uint64_t offset,
                 std::span<std::byte> to) noexcept {
  const auto body = as_message_body(RegionAccess{offset, region, static_cast<std::uint32_t>(to.size())});
  const auto reply = channel.ask(Command::region_read, body, {}, limits::answer);
  if (!reply || reply->body.size() != sizeof(RegionAccess) + to.size()) {
    return false;
  }
  std::ranges::copy(std::span{reply->body}.subspan(sizeof(RegionAccess)), to.begin());
  return true;
}

void SocketBar::read_by_message(std::uint64_t offset, std::span<std::byte> to) noexcept {
  if (!read_region(channel_, region_, offset, to)) {
    std::ranges::fill(to, std::byte{0xff});
  }
}

void SocketBar::write_by_message(std::uint64_t offset, std::span<const std::byte> from) noexcept {
  auto body = as_message_body(RegionAccess{offset, region_, static_cast<std::uint32_t>(from.size())});
  body.insert(body.end(), from.begin(), from.end());
  if (areas_.empty()) {
    channel_.post(Command::region_write, body);
    return;
  }
  // A load from a mapped part does not go the way of messages, and would overtake a posted one.
  static_cast<void>(channel_.ask(Command::region_write, body, {}, limits::answer));
}

SocketBar::Stretch SocketBar::stretch_at(std::uint64_t offset, std::uint64_t most_bytes) const noexcept {
  for (const auto& area : areas_) {
    if (offset < area.offset) {
      return {nullptr, std::min<std::uint64_t>({most_bytes, area.offset - offset, limits::block_bytes})};
    }
    const auto into = offset - area.offset;
    if (into < area.mapping.size_bytes()) {
      return {area.mapping.data() + into,
              std::min<std::uint64_t>(most_bytes, area.mapping.size_bytes() - into)};
    }
  }
  return {nullptr, std::min<std::uint64_t>(most_bytes, limits::block_bytes)};
}

template <class Word>
Word SocketBar::read(std::uint64_t offset) noexcept {
  Word value = static_cast<Word>(~Word{0});
  if (!inside(offset, sizeof value)) {
    return value;
  }
  const auto stretch = stretch_at(offset, sizeof value);
  if (stretch.at != nullptr && stretch.bytes == sizeof value) {
    return channel_.lost() ? value : *reinterpret_cast<const volatile Word*>(stretch.at);
  }
  read_by_message(offset, std::as_writable_bytes(std::span{&value, 1}));
  return value;
}

template <class Word>
void SocketBar::write(std::uint64_t offset, Word value) noexcept {
  if (!inside(offset, sizeof value)) {
    return;
  }
  const auto stretch = stretch_at(offset, sizeof value);
  if (stretch.at != nullptr && stretch.bytes == sizeof value) {
    *reinterpret_cast<volatile Word*>(stretch.at) = value;
    return;
  }
  write_by_message(offset, std::as_bytes(std::span{&value, 1}));
}

std::uint32_t SocketBar::read32(std::uint64_t offset) noexcept { return read<std::uint32_t>(offset); }

std::uint64_t SocketBar::read64(std::uint64_t offset) noexcept { return read<std::uint64_t>(offset); }

void SocketBar::write32(std::uint64_t offset, std::uint32_t value) noexcept { write(offset, value); }

void SocketBar::write64(std::uint64_t offset, std::uint64_t value) noexcept { write(offset, value); }

void SocketBar::read_block(std::uint64_t offset, std::span<std::byte> to) noexcept {
  if (!inside(offset, to.size())) {
    std::ranges::fill(to, std::byte{0xff});
    return;
  }
  while (!to.empty()) {
    const auto stretch = stretch_at(offset, to.size());
    const auto piece = to.first(stretch.bytes);
    if (stretch.at == nullptr) {
      read_by_message(offset, piece);
    } else if (channel_.lost()) {
      std::ranges::fill(piece, std::byte{0xff});
    } else {
      std::memcpy(piece.data(), stretch.at, piece.size());
    }
    offset += piece.size();
    to = to.subspan(piece.size());
  }
}

void SocketBar::write_block(std::uint64_t offset, std::span<const std::byte> from) noexcept {
  if (!inside(offset, from.size())) {
    return;
  }
  while (!from.empty()) {
    const auto stretch = stretch_at(offset, from.size());
    const auto piece = from.first(stretch.bytes);
    if (stretch.at == nullptr) {
      write_by_message(offset, piece);
    } else {
      std::memcpy(stretch.at, piece.data(), piece.size());
    }
    offset += piece.size();
    from = from.subspan(piece.size());
  }
}

std::uint64_t SocketBar::mapped_bytes() const noexcept {
  std::uint64_t bytes = 0;
  for (const auto& area : areas_) {
    bytes += area.mapping.size_bytes();
  }
  return bytes;
}

}  // namespace datum::vfio_user
