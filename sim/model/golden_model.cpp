#include "sim/model/golden_model.hpp"

#include <algorithm>

#include "sim/memory/dram_geometry.hpp"

namespace datum::sim {

namespace {

constexpr std::uint64_t access_cycles = 8;  // about what the RTL takes for a register access

}  // namespace

std::uint32_t GoldenModel::read_register32(std::uint32_t offset) {
  parts_.counters.cycle += access_cycles;
  report_errors();
  const auto value = registers_.read32(offset);
  hash_.add(TransactionHash::Kind::register_read, cycle(), offset, value, {});
  return value;
}

std::uint64_t GoldenModel::read_register64(std::uint32_t offset) {
  parts_.counters.cycle += 2 * access_cycles;
  report_errors();
  const auto value = registers_.read64(offset);
  hash_.add(TransactionHash::Kind::register_read, cycle(), offset, value, {});
  return value;
}

void GoldenModel::write_register32(std::uint32_t offset, std::uint32_t value) {
  parts_.counters.cycle += access_cycles;
  hash_.add(TransactionHash::Kind::register_write, cycle(), offset, value, {});
  report_errors();  // of the time before it
  registers_.write32(offset, value);
  report_errors();
}

void GoldenModel::write_register64(std::uint32_t offset, std::uint64_t value) {
  parts_.counters.cycle += 2 * access_cycles;
  hash_.add(TransactionHash::Kind::register_write, cycle(), offset, value, {});
  report_errors();
  registers_.write64(offset, value);
  report_errors();
}

GoldenModel::Place GoldenModel::behind(std::uint64_t offset, std::uint64_t bytes) const noexcept {
  const auto fixed_bytes = parts_.options.aperture_bytes;
  if (offset < fixed_bytes) {
    return {true, {Target::dram, offset}, std::min(bytes, fixed_bytes - offset)};
  }
  const auto in_window = offset - fixed_bytes;
  const auto window_bytes = parts_.options.window_bytes;
  if (in_window >= window_bytes) {
    return {false, {}, bytes};
  }
  const hw::WindowBaseRegister base{parts_.global.window_base};
  const auto address = base.address_bytes() + in_window;
  return {base.ordinal() <= 1,
          {base.ordinal() == 0 ? Target::dram : Target::onchip, address},
          std::min(bytes, window_bytes - in_window)};
}

void GoldenModel::read_aperture(std::uint64_t offset, std::span<std::byte> to) {
  for (std::uint64_t done = 0; done < to.size();) {
    const auto place = behind(offset + done, to.size() - done);
    const auto source =
        place.exists ? parts_.memory.readable(place.first, place.bytes) : std::span<const std::byte>{};
    auto piece = source.empty() ? place.bytes : source.size();
    if (place.exists && parts_.memory.uncorrectable()) {
      piece = std::min(piece, column_bytes - place.first.address % column_bytes);
    }
    const auto target = to.subspan(done, piece);
    std::ranges::copy(source, target.begin());
    std::ranges::fill(target.subspan(source.size()), std::byte{0xff});
    parts_.counters.cycle += access_cycles + Counters::beats(piece);
    hash_.add(TransactionHash::Kind::aperture_read, cycle(), offset + done, piece, target);
    done += piece;
  }
  report_errors();
}

void GoldenModel::write_aperture(std::uint64_t offset, std::span<const std::byte> from) {
  for (std::uint64_t done = 0; done < from.size();) {
    const auto place = behind(offset + done, from.size() - done);
    const auto target =
        place.exists ? parts_.memory.writable(place.first, place.bytes) : std::span<std::byte>{};
    const auto piece = target.empty() ? place.bytes : target.size();
    std::ranges::copy(from.subspan(done, target.size()), target.begin());
    parts_.counters.cycle += access_cycles + Counters::beats(piece);
    hash_.add(TransactionHash::Kind::aperture_write, cycle(), offset + done, piece,
              from.subspan(done, piece));
    done += piece;
  }
  report_errors();
}

void GoldenModel::write_message_table32(std::uint32_t offset, std::uint32_t value) {
  parts_.messages.write32(offset, value);
}

void GoldenModel::report_errors() {
  parts_.ecc.catch_up();
  if (parts_.ecc.take_interrupt()) {
    parts_.rings.raise_memory();
  }
}

Activity GoldenModel::run(std::uint64_t cycles) {
  parts_.rings.run(cycles);
  report_errors();
  return activity();
}

Activity GoldenModel::activity() const { return {!parts_.rings.has_work(), parts_.rings.any_parked()}; }

void GoldenModel::power_on() {
  parts_.reset();
  parts_.messages.power_on();
  parts_.timing = {};
}

}  // namespace datum::sim
