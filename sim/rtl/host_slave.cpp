#include "sim/rtl/host_slave.hpp"

#include <algorithm>
#include <bit>
#include <cstring>
#include <limits>

namespace datum::sim {

namespace {

/// Even full back-pressure lets something through, or the board would stand still.
unsigned stalls(unsigned percent) {
  constexpr unsigned most = 94;
  return std::min(percent, most);
}

}  // namespace

HostSlave::HostSlave(BoardPins& pins, HostBus& host, const Settings& settings)
    : pins_(pins),
      host_(host),
      random_(settings.seed),
      latency_cycles_(settings.latency_cycles),
      stall_percent_(stalls(settings.backpressure_percent)) {
  idle();
}

void HostSlave::idle() noexcept {
  host_.forget(0);
  reads_.clear();
  writes_.clear();
  write_data_.clear();
  answers_.clear();
  runs_.clear();
  fetched_ = write_complete_ = false;
  read_beat_ = 0;
  pins_.m_axi_host_awready_i = 0;
  pins_.m_axi_host_wready_i = 0;
  pins_.m_axi_host_arready_i = 0;
  pins_.m_axi_host_bvalid_i = 0;
  pins_.m_axi_host_rvalid_i = 0;
}

void HostSlave::drive(std::uint64_t cycle) {
  pins_.m_axi_host_arready_i = reads_.size() < max_bursts && ready() ? 1 : 0;
  pins_.m_axi_host_awready_i = writes_.size() < max_bursts && ready() ? 1 : 0;
  pins_.m_axi_host_wready_i = !write_complete_ && ready() ? 1 : 0;
  // A valid that was not taken stays as it is.
  if (pins_.m_axi_host_rvalid_i == 0 && !reads_.empty() && reads_.front().due <= cycle && ready()) {
    if (!fetched_) {
      fetch(reads_.front(), cycle);
    }
    if (fetched_) {
      drive_read_beat();
    }
  }
  if (pins_.m_axi_host_bvalid_i == 0 && !answers_.empty() && answers_.front().due <= cycle && ready()) {
    pins_.m_axi_host_bid_i = answers_.front().id;
    pins_.m_axi_host_bresp_i = answers_.front().response;
    pins_.m_axi_host_bvalid_i = 1;
  }
}

void HostSlave::fetch(const Address& burst, std::uint64_t cycle) {
  // A burst of several beats covers whole lanes from its address on; a single beat may be narrower.
  const auto lead = burst.address % beat_bytes;
  const auto bytes =
      burst.beats == 1 ? std::min(burst.size_bytes, beat_bytes - lead) : burst.beats * beat_bytes - lead;
  read_data_.assign(burst.beats * beat_bytes, std::byte{0});
  readable_bytes_ = lead + host_.read(burst.address, std::span{read_data_}.subspan(lead, bytes), cycle);
  if (host_.pending()) {
    return;
  }
  if (readable_bytes_ == lead + bytes) {
    readable_bytes_ = std::numeric_limits<std::uint64_t>::max();
  }
  fetched_ = true;
  read_beat_ = 0;
}

void HostSlave::drive_read_beat() noexcept {
  const auto& burst = reads_.front();
  const auto end = (read_beat_ + 1) * beat_bytes;
  std::memcpy(pins_.m_axi_host_rdata_i.data(), read_data_.data() + read_beat_ * beat_bytes, beat_bytes);
  pins_.m_axi_host_rid_i = burst.id;
  pins_.m_axi_host_rresp_i = end <= readable_bytes_ ? okay : slave_error;
  pins_.m_axi_host_rlast_i = read_beat_ + 1 == burst.beats ? 1 : 0;
  pins_.m_axi_host_rvalid_i = 1;
}

void HostSlave::sample() noexcept {
  aw_ = pins_.m_axi_host_awvalid_o != 0 && pins_.m_axi_host_awready_i != 0;
  w_ = pins_.m_axi_host_wvalid_o != 0 && pins_.m_axi_host_wready_i != 0;
  b_ = pins_.m_axi_host_bvalid_i != 0 && pins_.m_axi_host_bready_o != 0;
  ar_ = pins_.m_axi_host_arvalid_o != 0 && pins_.m_axi_host_arready_i != 0;
  r_ = pins_.m_axi_host_rvalid_i != 0 && pins_.m_axi_host_rready_o != 0;
  if (ar_) {
    taken_read_ = {pins_.m_axi_host_arid_o, pins_.m_axi_host_araddr_o,
                   pins_.m_axi_host_arlen_o + std::size_t{1}, std::size_t{1} << pins_.m_axi_host_arsize_o, 0};
  }
  if (aw_) {
    taken_write_ = {pins_.m_axi_host_awid_o, pins_.m_axi_host_awaddr_o,
                    pins_.m_axi_host_awlen_o + std::size_t{1}, std::size_t{1} << pins_.m_axi_host_awsize_o,
                    0};
  }
  if (w_) {
    auto& beat = write_data_.emplace_back();
    std::memcpy(beat.data.data(), pins_.m_axi_host_wdata_o.data(), beat_bytes);
    beat.strobes = pins_.m_axi_host_wstrb_o;
    write_complete_ = pins_.m_axi_host_wlast_o != 0;
  }
}

void HostSlave::advance(std::uint64_t cycle) {
  if (ar_) {
    taken_read_.due = cycle + latency_cycles_;
    reads_.push_back(taken_read_);
  }
  if (aw_) {
    writes_.push_back(taken_write_);
  }
  if (r_) {
    pins_.m_axi_host_rvalid_i = 0;
    ++read_beats_;
    if (++read_beat_ == reads_.front().beats) {
      reads_.pop_front();
      fetched_ = false;
    }
  }
  if (b_) {
    pins_.m_axi_host_bvalid_i = 0;
    answers_.pop_front();
  }
  if (w_) {
    ++write_beats_;
  }
  if (write_complete_ && !writes_.empty() && perform_write(writes_.front(), cycle)) {
    writes_.pop_front();
    write_data_.clear();
    write_complete_ = false;
  }
  aw_ = w_ = b_ = ar_ = r_ = false;
}

/// False: it must be gone on with later.
bool HostSlave::perform_write(const Address& burst, std::uint64_t cycle) {
  if (runs_.empty()) {
    gather_runs(burst.address / beat_bytes * beat_bytes);
    next_run_ = 0;
    all_written_ = true;
  }
  for (; next_run_ < runs_.size(); ++next_run_) {
    const auto& run = runs_[next_run_];
    const auto written = host_.write(run.address, std::span{run_bytes_}.subspan(run.first, run.bytes), cycle);
    if (host_.pending()) {
      return false;
    }
    all_written_ = written == run.bytes && all_written_;
  }
  runs_.clear();
  answers_.push_back({burst.id, all_written_ ? okay : slave_error, cycle + latency_cycles_});
  return true;
}

void HostSlave::gather_runs(std::uint64_t base) {
  run_bytes_.clear();
  for (std::size_t index = 0; index < write_data_.size(); ++index) {
    const auto& beat = write_data_[index];
    auto left = beat.strobes;
    std::size_t at = 0;
    while (left != 0) {
      const auto gap = static_cast<std::size_t>(std::countr_zero(left));
      left >>= gap;
      at += gap;
      const auto count = static_cast<std::size_t>(std::countr_one(left));
      const auto address = base + index * beat_bytes + at;
      if (runs_.empty() || address != runs_.back().address + runs_.back().bytes) {
        runs_.push_back({address, run_bytes_.size(), 0});
      }
      runs_.back().bytes += count;
      run_bytes_.insert(run_bytes_.end(), beat.data.begin() + static_cast<std::ptrdiff_t>(at),
                        beat.data.begin() + static_cast<std::ptrdiff_t>(at + count));
      at += count;
      left = count == beat_bytes ? 0 : left >> count;
    }
  }
}

}  // namespace datum::sim
