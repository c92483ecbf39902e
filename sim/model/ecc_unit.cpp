#include "sim/model/ecc_unit.hpp"

#include <algorithm>
#include <cstring>
#include <utility>

#include "sim/memory/dram_geometry.hpp"
#include "sim/memory/secded.hpp"

namespace datum::sim {

namespace {

constexpr std::uint64_t word_bytes = ErrorMasks::word_bytes;
/// Check bits that are made wrong in a word that is lost.
constexpr std::uint8_t poison = 0x03;

constexpr std::uint64_t column_at(std::uint64_t address) noexcept { return address - address % column_bytes; }

}  // namespace

void EccUnit::log(EccLog& into, std::uint64_t word, std::uint8_t syndrome, bool scrub) noexcept {
  if (!into.valid) {
    into = {true, scrub, syndrome, word};
    interrupt_ = true;
  }
}

EccUnit::Finding EccUnit::look_at(std::uint64_t word, bool scrub) {
  const auto mask = dram_.errors().at(word);
  // The sum of the columns of the right word is zero, so only wrong bits count.
  const auto syndrome = static_cast<std::uint8_t>(check_of(mask.data) ^ mask.check);
  if (syndrome != 0 && beyond_repair(syndrome)) {
    ++registers.uncorrected_count;
    log(registers.uncorrected, word, syndrome, scrub);
    return Finding::lost;
  }
  // More wrong bits than two may look like one, or none: then other bits are wrong afterwards, for good.
  const auto still_wrong = mask.data ^ flipped_bit(syndrome);
  if (still_wrong != 0) {
    const auto cells = dram_.run(word, word_bytes);
    std::uint64_t value = 0;
    std::memcpy(&value, cells.data(), sizeof value);
    value ^= still_wrong;
    std::memcpy(cells.data(), &value, sizeof value);
  }
  dram_.errors().set(word, {});
  if (syndrome == 0) {
    return Finding::right;
  }
  ++registers.corrected_count;
  log(registers.corrected, word, syndrome, scrub);
  return Finding::corrected;
}

bool EccUnit::read_column(std::uint64_t column, bool scrub) {
  bool readable = true;
  for (auto wrong = dram_.errors().next(column, column + column_bytes); wrong;
       wrong = dram_.errors().next(*wrong + word_bytes, column + column_bytes)) {
    readable = look_at(*wrong, scrub) != Finding::lost && readable;
  }
  return readable;
}

std::uint64_t EccUnit::read(std::uint64_t first, std::uint64_t bytes) {
  const auto end = first + bytes;
  for (auto wrong = dram_.errors().next(column_at(first), column_at(end + column_bytes - 1)); wrong;
       wrong = dram_.errors().next(column_at(*wrong) + column_bytes, column_at(end + column_bytes - 1))) {
    if (!read_column(column_at(*wrong), false)) {
      return std::max(first, column_at(*wrong)) - first;
    }
  }
  return bytes;
}

/// A column of which a word is written in part is read first, and the rest of that word must not look right
/// if it is lost. Words that are written whole are right afterwards.
void EccUnit::write(std::uint64_t first, std::uint64_t bytes) {
  auto& errors = dram_.errors();
  const auto end = first + bytes;
  const auto last_column = column_at(end + column_bytes - 1);
  for (auto wrong = errors.next(column_at(first), last_column); wrong;
       wrong = errors.next(column_at(*wrong) + column_bytes, last_column)) {
    const auto column = column_at(*wrong);
    const auto from = std::max(first, column);
    const auto to = std::min(end, column + column_bytes);
    const bool partial = from % word_bytes != 0 || to % word_bytes != 0;
    if (partial) {
      read_column(column, false);
    }
    for (auto word = from - from % word_bytes; word < to; word += word_bytes) {
      const bool whole = word >= from && word + word_bytes <= to;
      if (!errors.at(word).empty()) {
        errors.set(word, whole ? ErrorMask{} : ErrorMask{0, poison});
      }
    }
  }
}

void EccUnit::scrub_run(std::uint64_t first, std::uint64_t end) {
  for (auto wrong = dram_.errors().next(first, end); wrong;
       wrong = dram_.errors().next(column_at(*wrong) + column_bytes, end)) {
    read_column(column_at(*wrong), true);
  }
}

void EccUnit::scrub(std::uint64_t columns) {
  const auto size = dram_.size_bytes();
  auto& position = registers.scrub_position;
  while (columns != 0) {
    position = position < size ? position : 0;
    const auto run = std::min(columns, (size - position) / column_bytes);
    scrub_run(position, position + run * column_bytes);
    position += run * column_bytes;
    columns -= run;
  }
}

void EccUnit::catch_up() {
  const std::uint64_t interval = registers.scrub_interval;
  if (interval != 0 && counters_.cycle >= next_scrub_cycle_) {
    const auto due = (counters_.cycle - next_scrub_cycle_) / interval + 1;
    next_scrub_cycle_ += due * interval;
    scrub(due);
  }
}

void EccUnit::set_interval(std::uint32_t cycles) noexcept {
  registers.scrub_interval = cycles;
  next_scrub_cycle_ = counters_.cycle + cycles;
}

void EccUnit::inject() {
  const auto word = registers.inject_address;
  if (word + word_bytes > dram_.size_bytes()) {
    return;
  }
  // The column is read and written back, as for a write of part of it.
  read_column(column_at(word), false);
  const bool lost = !dram_.errors().at(word).empty();
  const auto check = static_cast<std::uint8_t>(registers.inject_check ^ (lost ? poison : 0U));
  dram_.errors().set(word, {registers.inject_data, check});
}

bool EccUnit::take_interrupt() noexcept { return std::exchange(interrupt_, false); }

void EccUnit::reset() noexcept {
  registers = {};
  interrupt_ = false;
}

}  // namespace datum::sim
