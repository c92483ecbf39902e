#include "sim/rtl/aperture_master.hpp"

#include <algorithm>
#include <cstring>

namespace datum::sim {

void ApertureMaster::idle() noexcept {
  pins_.s_axi_bar2_awvalid_i = 0;
  pins_.s_axi_bar2_wvalid_i = 0;
  pins_.s_axi_bar2_bready_i = 0;
  pins_.s_axi_bar2_arvalid_i = 0;
  pins_.s_axi_bar2_rready_i = 0;
  done_ = true;
}

std::uint64_t ApertureMaster::piece(std::uint64_t offset, std::uint64_t bytes) noexcept {
  constexpr std::uint64_t boundary = 4096;
  const auto in_burst = burst_bytes - offset % beat_bytes;
  return std::min({bytes, in_burst, boundary - offset % boundary});
}

ApertureMaster::Lane ApertureMaster::lane(std::size_t beat) const noexcept {
  const auto lead = offset_ % beat_bytes;
  const auto first = beat == 0 ? lead : 0;
  const auto at = beat == 0 ? 0 : beat * beat_bytes - lead;
  return {first, std::min(beat_bytes, first + (bytes_ - at)), at};
}

void ApertureMaster::begin_read(std::uint64_t offset, std::span<std::byte> to) noexcept {
  offset_ = offset;
  to_ = to;
  bytes_ = to.size();
  beats_ = (offset % beat_bytes + bytes_ + beat_bytes - 1) / beat_bytes;
  beat_ = 0;
  done_ = false;
  pins_.s_axi_bar2_arid_i = 0;
  pins_.s_axi_bar2_araddr_i = offset / beat_bytes * beat_bytes;
  pins_.s_axi_bar2_arlen_i = static_cast<CData>(beats_ - 1);
  pins_.s_axi_bar2_arvalid_i = 1;
  pins_.s_axi_bar2_rready_i = 1;
}

void ApertureMaster::begin_write(std::uint64_t offset, std::span<const std::byte> from) noexcept {
  offset_ = offset;
  from_ = from;
  bytes_ = from.size();
  beats_ = (offset % beat_bytes + bytes_ + beat_bytes - 1) / beat_bytes;
  beat_ = 0;
  done_ = false;
  pins_.s_axi_bar2_awid_i = 0;
  pins_.s_axi_bar2_awaddr_i = offset / beat_bytes * beat_bytes;
  pins_.s_axi_bar2_awlen_i = static_cast<CData>(beats_ - 1);
  pins_.s_axi_bar2_awvalid_i = 1;
  pins_.s_axi_bar2_bready_i = 1;
  drive_write_beat();
}

void ApertureMaster::drive_write_beat() noexcept {
  const auto part = lane(beat_);
  std::array<std::byte, beat_bytes> beat{};
  std::memcpy(beat.data() + part.first, from_.data() + part.at, part.last - part.first);
  std::memcpy(pins_.s_axi_bar2_wdata_i.data(), beat.data(), beat.size());
  const auto count = part.last - part.first;
  const auto ones = count == beat_bytes ? ~0ULL : (1ULL << count) - 1;
  pins_.s_axi_bar2_wstrb_i = ones << part.first;
  pins_.s_axi_bar2_wlast_i = beat_ + 1 == beats_ ? 1 : 0;
  pins_.s_axi_bar2_wvalid_i = 1;
}

void ApertureMaster::take_read_beat() noexcept {
  const auto part = lane(beat_);
  std::byte* const to = to_.data() + part.at;
  const auto count = part.last - part.first;
  if (pins_.s_axi_bar2_rresp_o != 0) {
    std::memset(to, 0xff, count);
  } else {
    std::memcpy(to, reinterpret_cast<const std::byte*>(pins_.s_axi_bar2_rdata_o.data()) + part.first, count);
  }
}

void ApertureMaster::sample() noexcept {
  aw_ = pins_.s_axi_bar2_awvalid_i != 0 && pins_.s_axi_bar2_awready_o != 0;
  w_ = pins_.s_axi_bar2_wvalid_i != 0 && pins_.s_axi_bar2_wready_o != 0;
  ar_ = pins_.s_axi_bar2_arvalid_i != 0 && pins_.s_axi_bar2_arready_o != 0;
  r_ = pins_.s_axi_bar2_rvalid_o != 0 && pins_.s_axi_bar2_rready_i != 0;
  b_ = pins_.s_axi_bar2_bvalid_o != 0 && pins_.s_axi_bar2_bready_i != 0;
  if (r_ && beat_ < beats_) {
    last_ = pins_.s_axi_bar2_rlast_o != 0;
    take_read_beat();
  }
}

void ApertureMaster::advance() noexcept {
  if (aw_) {
    pins_.s_axi_bar2_awvalid_i = 0;
  }
  if (ar_) {
    pins_.s_axi_bar2_arvalid_i = 0;
  }
  if (w_ && ++beat_ < beats_) {
    drive_write_beat();
  } else if (w_) {
    pins_.s_axi_bar2_wvalid_i = 0;
  }
  if (r_) {
    ++beat_;
    if (last_) {
      pins_.s_axi_bar2_rready_i = 0;
      done_ = true;
    }
  }
  if (b_) {
    pins_.s_axi_bar2_bready_i = 0;
    done_ = true;
  }
  aw_ = w_ = ar_ = r_ = b_ = last_ = false;
}

}  // namespace datum::sim
