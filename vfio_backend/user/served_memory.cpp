#include "vfio_backend/user/served_memory.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <sys/mman.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

namespace datum::vfio_user {

namespace {

constexpr std::size_t faults_kept = 256;

bool allows(board::DmaAccess granted, board::DmaAccess wanted) {
  return (static_cast<unsigned>(granted) & static_cast<unsigned>(wanted)) == static_cast<unsigned>(wanted);
}

/// Through the kernel, which says so where the memory is not there. A record of up to 64 bytes gets its first
/// word last, so that who polls that word sees the rest.
std::uint64_t guarded_write(std::byte* to, std::span<std::byte> from) {
  constexpr std::size_t word = sizeof(std::uint64_t);
  constexpr std::size_t record = 64;
  const bool first_word_last = from.size() > word && from.size() <= record;
  std::array<iovec, 2> local{{{from.data(), from.size()}, {}}};
  std::array<iovec, 2> remote{{{to, from.size()}, {}}};
  if (first_word_last) {
    local = {{{from.data() + word, from.size() - word}, {from.data(), word}}};
    remote = {{{to + word, from.size() - word}, {to, word}}};
  }
  const unsigned long pieces = first_word_last ? 2 : 1;
  const auto copied = ::process_vm_writev(::getpid(), local.data(), pieces, remote.data(), pieces, 0);
  const auto done = copied < 0 ? 0 : static_cast<std::uint64_t>(copied);
  return first_word_last && done != from.size() ? 0 : done;
}

std::uint64_t guarded_read(std::byte* from, std::span<std::byte> to) {
  const iovec local{to.data(), to.size()};
  const iovec remote{from, to.size()};
  const auto copied = ::process_vm_readv(::getpid(), &local, 1, &remote, 1, 0);
  return copied < 0 ? 0 : static_cast<std::uint64_t>(copied);
}

}  // namespace

Status populate(std::span<std::byte> memory, board::DmaAccess access) {
  const bool write = allows(access, board::DmaAccess::write);
  int result = 0;
  do {
    result = ::madvise(memory.data(), memory.size(), write ? MADV_POPULATE_WRITE : MADV_POPULATE_READ);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  if (result == 0) {
    return {};
  }
  const int number = errno;
  return Error{ErrorCode::insufficient_permissions,
               number,
               fmt::format("host memory at {} ({} bytes) cannot be {} by this process: {}",
                           fmt::ptr(memory.data()), memory.size(), write ? "written" : "read",
                           std::strerror(number)),
               {}};
}

ServedMemory::ServedMemory(vfio::SpaceLimits limits, std::uint64_t max_locked_bytes)
    : limits_(std::move(limits)), max_locked_bytes_(max_locked_bytes), table_(limits_) {}

Status ServedMemory::add(Iova iova, std::span<std::byte> memory, board::DmaAccess access, Mapping own) {
  const ScopedLock lock(mutex_);
  if (Status status = table_.begin_map(iova, memory.size()); !status) {
    return status;
  }
  if (Status status = check_limits(memory.size()); !status) {
    table_.remove(iova);
    return status;
  }
  table_.end_map(iova, {});
  entries_.emplace(raw(iova), Entry{memory, access, std::move(own)});
  locked_bytes_ += memory.size();
  return {};
}

Status ServedMemory::check_limits(std::uint64_t bytes) const {
  if (limits_.max_mappings != 0 && entries_.size() >= limits_.max_mappings) {
    return make_error(ErrorCode::out_of_host_memory,
                      fmt::format("{} mappings are live, which is the limit", entries_.size()));
  }
  if (max_locked_bytes_ != 0 && bytes > max_locked_bytes_ - locked_bytes_) {
    return make_error(ErrorCode::out_of_host_memory,
                      fmt::format("mapping {} bytes more than the {} that are mapped exceeds the limit of {}",
                                  bytes, locked_bytes_, max_locked_bytes_));
  }
  return {};
}

bool ServedMemory::has(Iova iova, std::uint64_t bytes) {
  const ScopedLock lock(mutex_);
  const auto found = entries_.find(raw(iova));
  return found != entries_.end() && found->second.memory.size() == bytes;
}

void ServedMemory::remove(Iova iova) {
  const ScopedLock lock(mutex_);
  const auto found = entries_.find(raw(iova));
  locked_bytes_ -= found->second.memory.size();
  entries_.erase(found);
  table_.remove(iova);
}

std::uint64_t ServedMemory::move(std::uint64_t iova, std::span<std::byte> data, board::DmaAccess access) {
  std::uint64_t done = 0;
  while (done < data.size()) {
    const auto after = entries_.upper_bound(iova + done);
    if (after == entries_.begin()) {
      break;
    }
    const auto& [first, entry] = *std::prev(after);
    const auto offset = iova + done - first;
    if (offset >= entry.memory.size() || !allows(entry.access, access)) {
      break;
    }
    const auto piece = data.subspan(done, std::min(data.size() - done, entry.memory.size() - offset));
    std::byte* const host = entry.memory.data() + offset;
    const auto moved =
        access == board::DmaAccess::read ? guarded_read(host, piece) : guarded_write(host, piece);
    done += moved;
    if (moved != piece.size()) {
      break;
    }
  }
  return done;
}

Channel::DmaAnswer ServedMemory::answer(const Message& message) {
  const bool write = message.command() == Command::dma_write;
  if (message.body.size() < sizeof(DmaAccess)) {
    return {EINVAL, {}};
  }
  const auto access = read_body<DmaAccess>(message.body);
  const auto data_bytes = message.body.size() - sizeof access;
  if (access.count == 0 || access.count > most_data_bytes || data_bytes != (write ? access.count : 0) ||
      access.iova + (access.count - 1) < access.iova) {
    return {EINVAL, {}};
  }
  Channel::DmaAnswer answer{0, message.body};
  answer.body.resize(sizeof access + access.count);
  const auto data = std::span{answer.body}.subspan(sizeof access);
  const auto wanted = write ? board::DmaAccess::write : board::DmaAccess::read;
  const ScopedLock lock(mutex_);
  if (const auto done = move(access.iova, data, wanted); done != access.count) {
    if (faults_.size() < faults_kept) {
      faults_.push_back({Iova{access.iova + done}, access.count - done, wanted, 0});
    }
    return {EFAULT, {}};
  }
  if (write) {
    answer.body.resize(sizeof access);
  }
  return answer;
}

std::vector<board::DmaFault> ServedMemory::take_faults() {
  const ScopedLock lock(mutex_);
  return std::exchange(faults_, {});
}

}  // namespace datum::vfio_user
