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

std::uint64_t HostBus::read(std::uint64_t iova, std::span<std::byte> to, std::uint64_t cycle) {
  std::uint64_t done = 0;
  while (done < to.size()) {
    const auto hit = iommu_.lookup(iova + done, board::DmaAccess::read);
    const auto bytes = std::min<std::uint64_t>(to.size() - done, hit.bytes);
    const auto copied = hit.range == nullptr ? 0 : hit.range->read(hit.offset, to.subspan(done, bytes));
    done += copied;
    if (copied != bytes || bytes == 0) {
      refuse(iova + done, to.size() - done, board::DmaAccess::read, cycle);
      break;
    }
  }
  hash_.add(TransactionHash::Kind::host_read, cycle, iova, done, to.first(done));
  return done;
}

std::uint64_t HostBus::write(std::uint64_t iova, std::span<const std::byte> from, std::uint64_t cycle) {
  if (iova >= message_window_first && iova <= message_window_last && from.size() == message_bytes) {
    std::uint32_t vector = 0;
    std::memcpy(&vector, from.data(), sizeof vector);
    hash_.add(TransactionHash::Kind::message, cycle, iova, vector, {});
    interrupts_.raise(vector);
    return message_bytes;
  }
  std::uint64_t done = 0;
  while (done < from.size()) {
    const auto hit = iommu_.lookup(iova + done, board::DmaAccess::write);
    const auto bytes = std::min<std::uint64_t>(from.size() - done, hit.bytes);
    const auto copied = hit.range == nullptr ? 0 : hit.range->write(hit.offset, from.subspan(done, bytes));
    done += copied;
    if (copied != bytes || bytes == 0) {
      refuse(iova + done, from.size() - done, board::DmaAccess::write, cycle);
      break;
    }
  }
  hash_.add(TransactionHash::Kind::host_write, cycle, iova, done, from.first(done));
  return done;
}

}  // namespace datum::sim
