#include "sim/host/host_range.hpp"

#include <array>
#include <atomic>
#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <sys/uio.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/address.hpp>
#include <datum/base/dma_buf.hpp>

namespace datum::sim {

namespace {

bool may_write(board::DmaAccess access) {
  return (static_cast<unsigned>(access) & static_cast<unsigned>(board::DmaAccess::write)) != 0;
}

Error with_errno(ErrorCode code, int number, std::string message) {
  return Error{code, number, std::move(message), {}};
}

/// Faults every page in for the access, like pinning: what cannot be had is refused now and not in the middle
/// of a transfer.
Status populate(std::span<std::byte> memory, board::DmaAccess access) {
  const int advice = may_write(access) ? MADV_POPULATE_WRITE : MADV_POPULATE_READ;
  int result = 0;
  do {
    result = ::madvise(memory.data(), memory.size(), advice);
  } while (result != 0 && (errno == EINTR || errno == EAGAIN));
  if (result == 0) {
    return {};
  }
  const int number = errno;
  return with_errno(ErrorCode::insufficient_permissions, number,
                    fmt::format("host memory at {} ({} bytes) cannot be {} by this process: {}",
                                fmt::ptr(memory.data()), memory.size(),
                                may_write(access) ? "written" : "read", std::strerror(number)));
}

/// One aligned word is one store, so that a poller never sees half of it.
void store(std::byte* to, std::span<const std::byte> from) {
  if (from.size() == sizeof(std::uint64_t) &&
      is_aligned(reinterpret_cast<std::uintptr_t>(to), sizeof(std::uint64_t))) {
    std::uint64_t word = 0;
    std::memcpy(&word, from.data(), sizeof word);
    std::atomic_ref<std::uint64_t>(*reinterpret_cast<std::uint64_t*>(to))
        .store(word, std::memory_order_release);
    return;
  }
  std::memcpy(to, from.data(), from.size());
}

}  // namespace

Result<HostRange> HostRange::of_caller(std::span<std::byte> memory, board::DmaAccess access) {
  if (auto status = populate(memory, access); !status) {
    return std::move(status).error();
  }
  return HostRange{memory, Mapping{}, false};
}

Result<HostRange> HostRange::of_descriptor(int fd, std::uint64_t offset, std::uint64_t bytes,
                                           board::DmaAccess access) {
  std::uint64_t file_bytes = dma_buf_bytes(fd);
  bool stays = file_bytes != 0;
  if (!stays) {
    const int seals = ::fcntl(fd, F_GET_SEALS);

    struct stat status {};

    if (seals < 0 || ::fstat(fd, &status) != 0) {
      return with_errno(
          ErrorCode::invalid_argument, errno,
          "the descriptor is neither a memfd nor a dma-buf, the only kinds that a simulated board maps");
    }
    file_bytes = static_cast<std::uint64_t>(status.st_size);
    stays = (seals & F_SEAL_SHRINK) != 0;
  }
  if (offset > file_bytes || bytes > file_bytes - offset) {
    return make_error(
        ErrorCode::invalid_argument,
        fmt::format("the range ends at byte {} of a descriptor of {} bytes", offset + bytes, file_bytes));
  }
  const int protection = may_write(access) ? PROT_READ | PROT_WRITE : PROT_READ;
  void* base = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd, static_cast<off_t>(offset));
  if (base == MAP_FAILED) {
    const int number = errno;
    const auto code = number == ENOMEM ? ErrorCode::out_of_host_memory : ErrorCode::insufficient_permissions;
    return with_errno(code, number,
                      fmt::format("the descriptor cannot be mapped: {}", std::strerror(number)));
  }
  const std::span memory{static_cast<std::byte*>(base), bytes};
  return HostRange{memory, Mapping{base, bytes}, stays};
}

HostRange HostRange::of_shared(std::shared_ptr<const Mapping> whole, std::span<std::byte> memory,
                               bool stays) {
  HostRange range{memory, Mapping{}, stays};
  range.shared_ = std::move(whole);
  return range;
}

HostRange HostRange::of_elsewhere(std::uint64_t bytes) {
  return HostRange{{static_cast<std::byte*>(nullptr), bytes}, Mapping{}, false};
}

std::uint64_t HostRange::read(std::uint64_t offset, std::span<std::byte> to) const noexcept {
  std::byte* const from = memory_.data() + offset;
  if (stays_) {
    std::memcpy(to.data(), from, to.size());
    return to.size();
  }
  // The process by one of its living threads: its first one may have ended.
  const iovec local{to.data(), to.size()};
  const iovec remote{from, to.size()};
  const auto copied = ::process_vm_readv(::gettid(), &local, 1, &remote, 1, 0);
  return copied < 0 ? 0 : static_cast<std::uint64_t>(copied);
}

std::uint64_t HostRange::write(std::uint64_t offset, std::span<const std::byte> from) const noexcept {
  constexpr std::size_t word = sizeof(std::uint64_t);
  constexpr std::size_t record = 64;
  std::byte* const to = memory_.data() + offset;
  const bool first_word_last = from.size() > word && from.size() <= record;
  if (stays_) {
    if (first_word_last) {
      std::memcpy(to + word, from.data() + word, from.size() - word);
      store(to, from.first(word));
    } else {
      store(to, from);
    }
    return from.size();
  }
  auto* const source = const_cast<std::byte*>(from.data());  // iovec knows no const
  std::array<iovec, 2> local{{{source, from.size()}, {}}};
  std::array<iovec, 2> remote{{{to, from.size()}, {}}};
  std::size_t pieces = 1;
  if (first_word_last) {
    local = {{{source + word, from.size() - word}, {source, word}}};
    remote = {{{to + word, from.size() - word}, {to, word}}};
    pieces = 2;
  }
  const auto copied = ::process_vm_writev(::gettid(), local.data(), pieces, remote.data(), pieces, 0);
  if (copied < 0) {
    return 0;
  }
  // Of a record in two pieces, bytes are only counted when all are there: the first piece is not at the
  // start.
  const auto done = static_cast<std::uint64_t>(copied);
  return first_word_last && done != from.size() ? 0 : done;
}

}  // namespace datum::sim
