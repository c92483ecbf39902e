#include "tests/rtl/host_bus.hpp"

#include <algorithm>
#include <cstring>

namespace datum::rtl_test {

void HostBus::hold_back(unsigned percent, std::uint32_t seed) {
  hold_percent_ = percent;
  random_.seed(seed);
}

bool HostBus::refused(std::uint64_t address) const {
  return std::any_of(refused_.begin(), refused_.end(), [address](const Range& range) {
    return address >= range.first && address - range.first < range.bytes;
  });
}

void HostBus::begin_cycle() {
  for (auto& hold : hold_) {
    hold = hold_percent_ != 0 && random_() % 100 < hold_percent_;
  }
  prepare_read();
}

void HostBus::prepare_read() {
  if (reads_.empty()) {
    return;
  }
  const auto& burst = reads_.front();
  const auto address = burst.address.address + std::uint64_t{burst.beat} * bus_word_bytes;
  read_answer_ = {
      burst.address.id, {}, burst.failed ? slave_error : okay, burst.beat + 1 == burst.address.beats};
  if (!burst.failed) {
    std::memcpy(read_answer_.data.data(), memory.page(address).data() + address % SparseMemory::page_bytes,
                bus_word_bytes);
  }
}

const BusAnswer* HostBus::read_data() const {
  return !reads_.empty() && reads_.front().due <= now_ && !hold_[3] ? &read_answer_ : nullptr;
}

const BusAnswer* HostBus::write_answer() const {
  return !answers_.empty() && answers_.front().first <= now_ && !hold_[4] ? &answers_.front().second
                                                                          : nullptr;
}

void HostBus::take_read_address(const BusAddress& address) {
  ++read_bursts_;
  reads_.push_back({address, now_ + latency_cycles, 0, refused(address.address)});
}

void HostBus::take_write_address(const BusAddress& address) {
  writes_.push_back({address, 0, 0, refused(address.address)});
}

void HostBus::take_write_data(const BusWord& data, std::uint64_t strobe, bool last) {
  auto& burst = writes_.front();
  const auto address = burst.address.address + std::uint64_t{burst.beat} * bus_word_bytes;
  if (!burst.failed) {
    auto* bytes = memory.page(address).data() + address % SparseMemory::page_bytes;
    const auto* source = reinterpret_cast<const std::byte*>(data.data());
    for (unsigned i = 0; i < bus_word_bytes; ++i) {
      if (((strobe >> i) & 1U) != 0) {
        bytes[i] = source[i];
      }
    }
  }
  ++burst.beat;
  if (last) {
    written_.push_back(burst.address.address);
    answers_.emplace_back(now_ + latency_cycles,
                          BusAnswer{burst.address.id, {}, burst.failed ? slave_error : okay, true});
    writes_.pop_front();
  }
}

void HostBus::read_data_taken() {
  auto& burst = reads_.front();
  ++burst.beat;
  if (burst.beat == burst.address.beats) {
    reads_.pop_front();
  }
}

void HostBus::write_answer_taken() { answers_.pop_front(); }

}  // namespace datum::rtl_test
