#include "sim/host/host_bus.hpp"

#include <algorithm>
#include <cstring>

namespace datum::sim {

namespace {

constexpr std::size_t message_bytes = 4;

}  // namespace

void HostBus::refuse(std::uint64_t iova, std::uint64_t bytes, board::DmaAccess tried, std::uint64_t cycle) {
  const auto to_page_end = small_page_bytes - iova % small_page_bytes;
  iommu_.record_fault({Iova{iova}, std::min(bytes, to_page_end), tried, cycle});
}

std::uint64_t HostBus::piece_bytes(std::uint64_t iova, std::uint64_t bytes,
                                   const Iommu::Hit& hit) const noexcept {
  // Of what is not mapped nobody knows where it ends: page by page, so that the first bad address is known.
  const auto extent = hit.range == nullptr ? small_page_bytes - iova % small_page_bytes : hit.bytes;
  return std::min<std::uint64_t>({bytes, extent, RemoteMemory::most_bytes});
}

std::uint64_t HostBus::outcome(RemoteMemory::Answer answer, std::uint64_t bytes) noexcept {
  pending_ = answer == RemoteMemory::Answer::pending;
  waits_ = waits_ || pending_;
  return answer == RemoteMemory::Answer::done ? bytes : 0;
}

std::uint64_t HostBus::ask(std::uint64_t iova, std::span<std::byte> to, const Iommu::Hit& hit) {
  const auto bytes = piece_bytes(iova, to.size(), hit);
  return outcome(remote_->read(requester_, iova, to.first(bytes)), bytes);
}

std::uint64_t HostBus::ask(std::uint64_t iova, std::span<const std::byte> from, const Iommu::Hit& hit) {
  const auto bytes = piece_bytes(iova, from.size(), hit);
  return outcome(remote_->write(requester_, iova, from.first(bytes)), bytes);
}

std::uint64_t HostBus::read(std::uint64_t iova, std::span<std::byte> to, std::uint64_t cycle) {
  pending_ = false;
  std::uint64_t done = 0;
  while (done < to.size()) {
    const auto hit = bus_master_ ? iommu_.lookup(iova + done, board::DmaAccess::read) : Iommu::Hit{};
    const bool here = hit.range != nullptr && !hit.range->elsewhere();
    std::uint64_t bytes = std::min<std::uint64_t>(to.size() - done, hit.bytes);
    std::uint64_t copied = 0;
    if (here) {
      copied = hit.range->read(hit.offset, to.subspan(done, bytes));
    } else if (remote_ != nullptr && bus_master_) {
      copied = bytes = ask(iova + done, to.subspan(done), hit);
    }
    done += copied;
    if (pending_) {
      break;
    }
    if (copied != bytes || bytes == 0) {
      refuse(iova + done, to.size() - done, board::DmaAccess::read, cycle);
      break;
    }
  }
  hash_.add(TransactionHash::Kind::host_read, cycle, iova, done, to.first(done));
  if (watch_ != nullptr) {
    watch_->saw_read(iova, to.first(done));
  }
  return done;
}

std::uint64_t HostBus::write(std::uint64_t iova, std::span<const std::byte> from, std::uint64_t cycle) {
  pending_ = false;
  const bool is_message =
      iova >= message_window_first && iova <= message_window_last && from.size() == message_bytes;
  if (is_message && bus_master_) {
    std::uint32_t vector = 0;
    std::memcpy(&vector, from.data(), sizeof vector);
    hash_.add(TransactionHash::Kind::message, cycle, iova, vector, {});
    if (watch_ != nullptr) {
      watch_->saw_message(vector);
    }
    interrupts_.raise(vector);
    return message_bytes;
  }
  std::uint64_t done = 0;
  while (done < from.size()) {
    const auto hit = bus_master_ ? iommu_.lookup(iova + done, board::DmaAccess::write) : Iommu::Hit{};
    const bool here = hit.range != nullptr && !hit.range->elsewhere();
    std::uint64_t bytes = std::min<std::uint64_t>(from.size() - done, hit.bytes);
    std::uint64_t copied = 0;
    if (here) {
      copied = hit.range->write(hit.offset, from.subspan(done, bytes));
    } else if (remote_ != nullptr && bus_master_) {
      copied = bytes = ask(iova + done, from.subspan(done), hit);
    }
    done += copied;
    if (pending_) {
      break;
    }
    if (copied != bytes || bytes == 0) {
      refuse(iova + done, from.size() - done, board::DmaAccess::write, cycle);
      break;
    }
  }
  hash_.add(TransactionHash::Kind::host_write, cycle, iova, done, from.first(done));
  return done;
}

}  // namespace datum::sim
