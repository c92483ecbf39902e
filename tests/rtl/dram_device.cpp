#include "tests/rtl/dram_device.hpp"

#include <algorithm>
#include <bit>
#include <cstring>

#include <fmt/format.h>

namespace datum::rtl_test {

std::uint64_t dram_address(std::uint32_t row, unsigned bank, unsigned column) {
  const auto fold = (row ^ (row >> 4U) ^ (row >> 8U) ^ (row >> 12U)) & 0xfU;
  const std::uint64_t plain = bank ^ fold;
  return (std::uint64_t{row} << 17U) | ((plain >> 2U) << 15U) | (std::uint64_t{column} << 8U) |
         ((plain & 3U) << 6U);
}

std::uint8_t check_bits(std::uint64_t word) {
  unsigned sum = 0;
  for (unsigned bit = 0; bit < 64; ++bit) {
    if (((word >> bit) & 1U) != 0) {
      const unsigned column = bit == 0 ? 0x3fU : 0x40U + bit;
      sum ^= column | (std::popcount(column) % 2 == 0 ? 0x80U : 0U);
    }
  }
  return static_cast<std::uint8_t>(sum);
}

void DramDevice::write_words(std::uint64_t address, std::byte* cells, const DramColumn& written) {
  const auto* bytes = reinterpret_cast<const std::byte*>(written.data.data());
  for (unsigned lane = 0; lane < 8; ++lane) {
    if (((written.lanes >> lane) & 1U) == 0) {
      continue;
    }
    std::uint64_t word = 0;
    std::memcpy(&word, bytes + 8 * lane, sizeof word);
    std::memcpy(cells + 8 * lane, &word, sizeof word);
    turned_.erase(address + 8 * lane);
    const auto check = static_cast<std::uint8_t>(written.check >> (8 * lane));
    if (check != check_bits(word)) {
      turn_bits(address + 8 * lane, 0, check ^ check_bits(word));
    }
  }
}

DramColumn DramDevice::read_words(std::uint64_t address, const std::byte* cells) const {
  DramColumn read;
  for (unsigned lane = 0; lane < 8; ++lane) {
    std::uint64_t word = 0;
    std::memcpy(&word, cells + 8 * lane, sizeof word);
    auto check = check_bits(word);
    if (const auto found = turned_.find(address + 8 * lane); found != turned_.end()) {
      word ^= found->second.data;
      check ^= found->second.check;
    }
    std::memcpy(reinterpret_cast<std::byte*>(read.data.data()) + 8 * lane, &word, sizeof word);
    read.check |= std::uint64_t{check} << (8 * lane);
  }
  return read;
}

void DramDevice::expect(bool holds, const char* rule) {
  if (!holds) {
    broken_.push_back(fmt::format("cycle {}: {}", now_, rule));
  }
}

void DramDevice::expect_after(std::int64_t since, unsigned clocks, const char* rule) {
  expect((now_ - since) * DramClocks::per_cycle >= clocks, rule);
}

void DramDevice::activate(unsigned bank, std::uint32_t row) {
  auto& state = banks_.at(bank);
  expect(!state.row.has_value(), "activate of an open bank");
  expect_after(state.precharged, clocks_.rp, "tRP");
  expect_after(state.activated, clocks_.ras + clocks_.rp, "tRC");
  expect_after(last_refresh_, clocks_.rfc, "tRFC");
  if (!activates_.empty()) {
    const auto [cycle, other] = activates_.back();
    expect_after(cycle, other % 4 == bank % 4 ? clocks_.rrd_l : clocks_.rrd_s, "tRRD");
  }
  if (activates_.size() == 4) {
    expect_after(activates_.front().first, clocks_.faw, "tFAW");
    activates_.erase(activates_.begin());
  }
  activates_.emplace_back(now_, bank);
  state.activated = now_;
  state.row = row;
}

void DramDevice::precharge(unsigned bank) {
  auto& state = banks_.at(bank);
  if (state.row.has_value()) {
    expect_after(state.activated, clocks_.ras, "tRAS");
    expect_after(state.read, clocks_.rtp, "tRTP");
    expect_after(state.written, clocks_.cwl + clocks_.burst + clocks_.wr, "tWR");
  }
  state.row.reset();
  state.precharged = now_;
}

void DramDevice::refresh() {
  for (const auto& bank : banks_) {
    expect(!bank.row.has_value(), "refresh with an open row");
    expect_after(bank.precharged, clocks_.rp, "tRP before refresh");
  }
  expect_after(last_refresh_, clocks_.rfc, "tRFC between refreshes");
  last_refresh_ = now_;
  ++refreshes_;
}

void DramDevice::column(const DramCommands& commands, const DramColumn& written) {
  auto& bank = banks_.at(commands.column_bank);
  ++columns_;
  expect(bank.row.has_value(), "column access of a closed bank");
  expect_after(bank.activated, clocks_.rcd, "tRCD");
  for (unsigned group = 0; group < 4; ++group) {
    expect_after(last_of_group_.at(group), group == commands.column_bank % 4 ? clocks_.ccd_l : clocks_.ccd_s,
                 "tCCD");
  }
  last_of_group_.at(commands.column_bank % 4) = now_;
  const auto address = dram_address(bank.row.value_or(0), commands.column_bank, commands.column_address);
  auto* word = memory_.page(address).data() + address % SparseMemory::page_bytes;
  if (commands.column_write) {
    // The bus turns: read data has left it, with two clocks between the directions, before write data comes.
    expect_after(last_read_, clocks_.cl + clocks_.burst + 2 - clocks_.cwl, "read to write");
    write_words(address, word, written);
    bank.written = now_;
    last_write_ = now_;
  } else {
    expect_after(last_write_, clocks_.cwl + clocks_.burst + clocks_.wtr_l, "tWTR");
    constexpr std::int64_t controller_cl = 5;
    pending_.push_back({now_ + controller_cl, read_words(address, word)});
    bank.read = now_;
    last_read_ = now_;
  }
}

void DramDevice::cycle(const DramCommands& commands, const DramColumn& written) {
  if (!pending_.empty() && pending_.front().due == now_) {
    pending_.erase(pending_.begin());
  }
  if (commands.precharge) {
    for (unsigned bank = 0; bank < banks; ++bank) {
      if (commands.precharge_all || commands.precharge_bank == bank) {
        precharge(bank);
      }
    }
  }
  if (commands.refresh) {
    refresh();
  }
  if (commands.activate) {
    activate(commands.activate_bank, commands.activate_row);
  }
  if (commands.column) {
    column(commands, written);
  }
  const auto owed = now_ * DramClocks::per_cycle / clocks_.refi - refreshes_;
  expect(owed <= static_cast<std::int64_t>(clocks_.postponed_refreshes), "refresh overdue");
  ++now_;
}

std::optional<DramColumn> DramDevice::read_data() const {
  if (!pending_.empty() && pending_.front().due == now_) {
    return pending_.front().data;
  }
  return std::nullopt;
}

}  // namespace datum::rtl_test
