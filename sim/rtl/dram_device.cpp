#include "sim/rtl/dram_device.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "sim/memory/secded.hpp"

namespace datum::sim {

void DramDevice::power_on() noexcept {
  bank_.fill({});
  group_column_.fill(0);
  last_activates_.fill(0);
  group_activate_.fill(0);
  last_read_ = last_write_ = last_refresh_ = 0;
  timing_known_ = refreshed_ = false;
  for (auto& read : reads_) {
    read.valid = false;
  }
  violation_.clear();
  pins_.dram_rvalid_i = 0;
}

void DramDevice::set_timing(const DramTiming& timing) noexcept {
  timing_ = programmed_ = timing;
  timing_known_ = true;
}

void DramDevice::drive(std::uint64_t cycle) noexcept {
  auto& read = reads_[cycle % longest_latency];
  const bool answers = read.valid && read.due == cycle;
  pins_.dram_rvalid_i = answers ? 1 : 0;
  if (answers) {
    std::memcpy(pins_.dram_rdata_i.data(), read.data.data(), column_bytes);
    pins_.dram_rcheck_i = read.check;
    read.valid = false;
  }
}

void DramDevice::sample(std::uint64_t cycle) {
  // Columns before precharges and activates: in one cycle they can only mean the row that was open before.
  if (pins_.dram_cas_valid_o != 0) {
    if (pins_.dram_cas_write_o != 0) {
      write(pins_.dram_cas_bank_o, pins_.dram_cas_col_o, cycle);
    } else {
      read(pins_.dram_cas_bank_o, pins_.dram_cas_col_o, cycle);
    }
  }
  if (pins_.dram_pre_valid_o != 0) {
    for (unsigned bank = 0; bank < banks; ++bank) {
      if (pins_.dram_pre_all_o != 0 || bank == pins_.dram_pre_bank_o) {
        precharge(bank, cycle);
      }
    }
  }
  if (pins_.dram_act_valid_o != 0) {
    activate(pins_.dram_act_bank_o, pins_.dram_act_row_o, cycle);
  }
  if (pins_.dram_ref_valid_o != 0) {
    refresh(cycle);
  }
  if (timing_known_ && refreshed_) {
    const auto latest = last_refresh_ + timing_.refresh.t_refi() * (postponed_refreshes + 1);
    require(cycle <= latest, "t_refi (a refresh is overdue)", 0, cycle);
  }
}

void DramDevice::require(bool holds, const char* rule, unsigned bank, std::uint64_t now) {
  if (!holds && violation_.empty()) {
    violation_ =
        fmt::format("the memory controller broke the DRAM rule {} at bank {} in cycle {}", rule, bank, now);
  }
}

void DramDevice::apart(std::uint64_t then, unsigned cycles, const char* rule, unsigned bank,
                       std::uint64_t now) {
  if (timing_known_ && then != 0) {
    require(now - then >= cycles, rule, bank, now);
  }
}

std::span<std::byte> DramDevice::cells(std::uint64_t address) const noexcept {
  return address + column_bytes <= array_.size_bytes() ? array_.run(address, column_bytes)
                                                       : std::span<std::byte>{};
}

void DramDevice::activate(unsigned bank, std::uint64_t row, std::uint64_t now) {
  auto& state = bank_[bank];
  require(!state.open, "activate of an open bank", bank, now);
  apart(state.precharged, timing_.row.t_rp(), "t_rp", bank, now);
  apart(group_activate_[bank % groups], timing_.row.t_rrd_l(), "t_rrd_l", bank, now);
  apart(last_activates_[3], timing_.refresh.t_faw(), "t_faw", bank, now);
  apart(last_refresh_, timing_.refresh.t_rfc(), "t_rfc", bank, now);
  state.open = true;
  state.row = row;
  state.activated = now;
  std::shift_right(last_activates_.begin(), last_activates_.end(), 1);
  last_activates_[0] = now;
  group_activate_[bank % groups] = now;
}

void DramDevice::precharge(unsigned bank, std::uint64_t now) {
  auto& state = bank_[bank];
  if (!state.open) {
    return;  // the standard allows it, and it does nothing
  }
  apart(state.activated, timing_.row.t_ras(), "t_ras", bank, now);
  apart(state.read, timing_.recovery.t_rtp(), "t_rtp", bank, now);
  apart(state.written, timing_.recovery.t_wr(), "t_wr", bank, now);
  state.open = false;
  state.precharged = now;
}

void DramDevice::refresh(std::uint64_t now) {
  for (unsigned bank = 0; bank < banks; ++bank) {
    require(!bank_[bank].open, "refresh with an open bank", bank, now);
    apart(bank_[bank].precharged, timing_.row.t_rp(), "t_rp before refresh", bank, now);
  }
  apart(last_refresh_, timing_.refresh.t_rfc(), "t_rfc between refreshes", 0, now);
  last_refresh_ = now;
  refreshed_ = true;
  if (pins_.dram_pre_all_o != 0 && pins_.dram_pre_valid_o == 0) {
    timing_ = programmed_;
  }
}

void DramDevice::check_column(unsigned bank, std::uint64_t now) {
  require(bank_[bank].open, "column command to a closed bank", bank, now);
  apart(bank_[bank].activated, timing_.row.t_rcd(), "t_rcd", bank, now);
  apart(group_column_[bank % groups], timing_.column.t_ccd_l(), "t_ccd_l", bank, now);
  group_column_[bank % groups] = now;
}

void DramDevice::read(unsigned bank, unsigned column, std::uint64_t now) {
  check_column(bank, now);
  apart(last_write_, timing_.column.t_wtr(), "t_wtr", bank, now);
  require(timing_known_, "read before the timing is known", bank, now);
  last_read_ = bank_[bank].read = now;
  const auto due = now + timing_.column.t_cl();
  auto& answer = reads_[due % longest_latency];
  answer.valid = true;
  answer.due = due;
  fill(answer, address_of(bank_[bank].row, bank, column));
}

void DramDevice::fill(Read& answer, std::uint64_t address) {
  answer.data.fill(~0ULL);
  const auto from = cells(address);
  std::ranges::copy(from, std::as_writable_bytes(std::span{answer.data}).begin());
  answer.check = 0;
  const auto& errors = array_.errors();
  for (unsigned lane = 0; lane < lanes; ++lane) {
    const auto mask = errors.empty() ? ErrorMask{} : errors.at(address + lane * ErrorMasks::word_bytes);
    const auto check = static_cast<std::uint8_t>(check_of(answer.data[lane]) ^ mask.check);
    answer.data[lane] ^= mask.data;
    answer.check |= std::uint64_t{check} << (8 * lane);
  }
}

void DramDevice::write(unsigned bank, unsigned column, std::uint64_t now) {
  check_column(bank, now);
  apart(last_read_, timing_.column.t_rtw(), "t_rtw", bank, now);
  last_write_ = bank_[bank].written = now;
  const auto address = address_of(bank_[bank].row, bank, column);
  if (const auto to = cells(address); !to.empty()) {
    store_words(address, to);
  }
}

/// Check bits that do not fit their word, and bits that the controller says are to be wrong, make the mask.
void DramDevice::store_words(std::uint64_t address, std::span<std::byte> to) {
  const auto* const from = reinterpret_cast<const std::byte*>(pins_.dram_wdata_o.data());
  auto& errors = array_.errors();
  for (unsigned lane = 0; lane < lanes; ++lane) {
    if (((pins_.dram_wlanes_o >> lane) & 1U) == 0) {
      continue;
    }
    const auto at = lane * ErrorMasks::word_bytes;
    std::uint64_t word = 0;
    std::memcpy(&word, from + at, sizeof word);
    std::memcpy(to.data() + at, &word, sizeof word);
    const auto check = static_cast<std::uint8_t>(pins_.dram_wcheck_o >> (8 * lane));
    const ErrorMask mask{lane == pins_.dram_wflip_lane_o ? pins_.dram_wflips_o : 0,
                         static_cast<std::uint8_t>(check ^ check_of(word))};
    if (!mask.empty() || !errors.empty()) {
      errors.set(address + at, mask);
    }
  }
}

}  // namespace datum::sim
