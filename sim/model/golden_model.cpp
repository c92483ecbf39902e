#include "sim/model/golden_model.hpp"

#include <algorithm>

namespace datum::sim {

namespace {

constexpr std::uint64_t access_cycles = 8;  // about what the RTL takes for a register access

}  // namespace

std::uint32_t GoldenModel::read_register32(std::uint32_t offset) {
  parts_.counters.cycle += access_cycles;
  const auto value = registers_.read32(offset);
  hash_.add(TransactionHash::Kind::register_read, cycle(), offset, value, {});
  return value;
}

std::uint64_t GoldenModel::read_register64(std::uint32_t offset) {
  parts_.counters.cycle += 2 * access_cycles;
  const auto value = registers_.read64(offset);
  hash_.add(TransactionHash::Kind::register_read, cycle(), offset, value, {});
  return value;
}

void GoldenModel::write_register32(std::uint32_t offset, std::uint32_t value) {
  parts_.counters.cycle += access_cycles;
  hash_.add(TransactionHash::Kind::register_write, cycle(), offset, value, {});
  registers_.write32(offset, value);
}

void GoldenModel::write_register64(std::uint32_t offset, std::uint64_t value) {
  parts_.counters.cycle += 2 * access_cycles;
  hash_.add(TransactionHash::Kind::register_write, cycle(), offset, value, {});
  registers_.write64(offset, value);
}

/// The cells behind `offset`, as many as lie in one piece; empty where there are none for `piece_bytes`.
std::span<std::byte> GoldenModel::behind(std::uint64_t offset, std::uint64_t bytes,
                                         std::uint64_t& piece_bytes) {
  const auto found = [&](Physical first) {
    const auto cells = parts_.memory.local(first, piece_bytes);
    piece_bytes = cells.empty() ? piece_bytes : cells.size();
    return cells;
  };
  const auto fixed_bytes = parts_.options.aperture_bytes;
  if (offset < fixed_bytes) {
    piece_bytes = std::min(bytes, fixed_bytes - offset);
    return found({Target::dram, offset});
  }
  const auto in_window = offset - fixed_bytes;
  const auto window_bytes = parts_.options.window_bytes;
  piece_bytes = bytes;
  if (in_window >= window_bytes) {
    return {};
  }
  piece_bytes = std::min(bytes, window_bytes - in_window);
  const hw::WindowBaseRegister base{parts_.global.window_base};
  const auto address = base.address_bytes() + in_window;
  if (base.ordinal() > 1) {
    return {};
  }
  return found({base.ordinal() == 0 ? Target::dram : Target::onchip, address});
}

void GoldenModel::read_aperture(std::uint64_t offset, std::span<std::byte> to) {
  for (std::uint64_t done = 0; done < to.size();) {
    std::uint64_t piece = 0;
    const auto source = behind(offset + done, to.size() - done, piece);
    const auto target = to.subspan(done, piece);
    std::ranges::copy(source, target.begin());
    std::ranges::fill(target.subspan(source.size()), std::byte{0xff});
    parts_.counters.cycle += access_cycles + Counters::beats(piece);
    hash_.add(TransactionHash::Kind::aperture_read, cycle(), offset + done, piece, target);
    done += piece;
  }
}

void GoldenModel::write_aperture(std::uint64_t offset, std::span<const std::byte> from) {
  for (std::uint64_t done = 0; done < from.size();) {
    std::uint64_t piece = 0;
    const auto target = behind(offset + done, from.size() - done, piece);
    std::ranges::copy(from.subspan(done, target.size()), target.begin());
    parts_.counters.cycle += access_cycles + Counters::beats(piece);
    hash_.add(TransactionHash::Kind::aperture_write, cycle(), offset + done, piece,
              from.subspan(done, piece));
    done += piece;
  }
}

void GoldenModel::write_message_table32(std::uint32_t offset, std::uint32_t value) {
  parts_.messages.write32(offset, value);
}

Activity GoldenModel::run(std::uint64_t cycles) {
  parts_.rings.run(cycles);
  return activity();
}

Activity GoldenModel::activity() const { return {!parts_.rings.has_work(), parts_.rings.any_parked()}; }

void GoldenModel::power_on() {
  parts_.reset();
  parts_.messages.power_on();
}

}  // namespace datum::sim
