#include "sim/model/memory_port.hpp"

#include <algorithm>
#include <cstring>

namespace datum::sim {

namespace {

constexpr std::size_t bounce_bytes = 256UL * 1024;

}  // namespace

MemoryPort::MemoryPort(DramArray& dram, EccUnit& ecc, HostBus& host, std::uint64_t onchip_bytes,
                       Counters& counters, WordWatch& watch)
    : dram_(dram), ecc_(ecc), host_(host), counters_(counters), watch_(watch), onchip_(onchip_bytes) {}

std::span<std::byte> MemoryPort::local(Physical first, std::uint64_t bytes) noexcept {
  switch (first.target) {
  case Target::dram:
    return first.address < dram_.size_bytes() ? dram_.run(first.address, bytes) : std::span<std::byte>{};
  case Target::onchip:
    return first.address < onchip_.size()
               ? std::span(onchip_.data(), onchip_.size())
                     .subspan(first.address, std::min<std::uint64_t>(bytes, onchip_.size() - first.address))
               : std::span<std::byte>{};
  case Target::host:
    break;
  }
  return {};
}

std::span<const std::byte> MemoryPort::readable(Physical first, std::uint64_t bytes) {
  uncorrectable_ = false;
  const auto cells = local(first, bytes);
  if (first.target != Target::dram || dram_.errors().empty()) {
    return cells;
  }
  const auto right = ecc_.read(first.address, cells.size());
  uncorrectable_ = right == 0 && !cells.empty();
  return cells.first(right);
}

std::span<std::byte> MemoryPort::writable(Physical first, std::uint64_t bytes) {
  uncorrectable_ = false;
  const auto cells = local(first, bytes);
  if (first.target == Target::dram && !dram_.errors().empty()) {
    ecc_.write(first.address, cells.size());
  }
  return cells;
}

void MemoryPort::count(Target target, std::uint64_t bytes, Side side) noexcept {
  const auto beats = Counters::beats(bytes);
  if (target == Target::host) {
    (side == Side::read ? counters_.host_read_beats : counters_.host_write_beats) += beats;
  } else if (target == Target::dram) {
    (side == Side::read ? counters_.dram_reads : counters_.dram_writes) += beats;
  }
}

std::uint64_t MemoryPort::read(Physical from, std::span<std::byte> to) {
  count(from.target, to.size(), Side::read);
  counters_.cycle += Counters::beats(to.size());
  uncorrectable_ = false;
  if (from.target == Target::host) {
    return host_.read(from.address, to, counters_.cycle);
  }
  std::uint64_t done = 0;
  while (done < to.size()) {
    const auto source = readable({from.target, from.address + done}, to.size() - done);
    if (source.empty()) {
      break;
    }
    std::ranges::copy(source, to.begin() + static_cast<std::ptrdiff_t>(done));
    done += source.size();
  }
  return done;
}

std::uint64_t MemoryPort::write(Physical to, std::span<const std::byte> from) {
  count(to.target, from.size(), Side::write);
  counters_.cycle += Counters::beats(from.size());
  uncorrectable_ = false;
  std::uint64_t done = 0;
  if (to.target == Target::host) {
    done = host_.write(to.address, from, counters_.cycle);
  }
  while (to.target != Target::host && done < from.size()) {
    const auto target = writable({to.target, to.address + done}, from.size() - done);
    if (target.empty()) {
      break;
    }
    std::ranges::copy(from.subspan(done, target.size()), target.begin());
    done += target.size();
  }
  watch_.written(to, done);
  return done;
}

CopyOutcome MemoryPort::copy(Physical from, Physical to, std::uint64_t bytes) {
  // With wrong bits about, words are judged when all that goes into them is known.
  if (from.target == Target::host && (to.target == Target::host || !dram_.errors().empty())) {
    return bounce(from, to, bytes);
  }
  CopyOutcome outcome;
  while (outcome.bytes < bytes && outcome.failed == Side::none) {
    const auto piece = copy_piece({from.target, from.address + outcome.bytes},
                                  {to.target, to.address + outcome.bytes}, bytes - outcome.bytes);
    outcome = {outcome.bytes + piece.bytes, piece.failed};
  }
  return outcome;
}

/// As much as lies in one piece on both sides; at least a byte, unless it fails.
CopyOutcome MemoryPort::copy_piece(Physical from, Physical to, std::uint64_t bytes) {
  if (from.target == Target::host) {
    const auto target = local(to, bytes);
    if (target.empty()) {
      return {0, Side::write};
    }
    count(to.target, target.size(), Side::write);
    const auto done = read(from, target);
    watch_.written(to, done);
    return {done, done < target.size() ? Side::read : Side::none};
  }
  auto source = readable(from, bytes);
  if (source.empty()) {
    return {0, Side::read};
  }
  if (to.target == Target::host) {
    count(from.target, source.size(), Side::read);
    const auto done = write(to, source);
    return {done, done < source.size() ? Side::write : Side::none};
  }
  const auto target = writable(to, source.size());
  if (target.empty()) {
    return {0, Side::write};
  }
  source = source.first(target.size());
  count(from.target, source.size(), Side::read);
  count(to.target, target.size(), Side::write);
  counters_.cycle += Counters::beats(target.size());
  std::memmove(target.data(), source.data(), target.size());  // the ranges may overlap
  watch_.written(to, target.size());
  return {target.size(), Side::none};
}

CopyOutcome MemoryPort::bounce(Physical from, Physical to, std::uint64_t bytes) {
  bounce_.resize(bounce_bytes);
  std::uint64_t done = 0;
  while (done < bytes) {
    const auto piece = std::span{bounce_}.first(std::min<std::uint64_t>(bytes - done, bounce_bytes));
    const auto got = read({from.target, from.address + done}, piece);
    const bool rest_is_coming = host_.pending();
    if (got == 0) {
      return {done, Side::read};
    }
    const auto put = write({to.target, to.address + done}, piece.first(got));
    done += put;
    if (put < got) {
      return {done, Side::write};
    }
    if (got < piece.size()) {
      return {done, rest_is_coming ? Side::none : Side::read};
    }
  }
  return {done, Side::none};
}

}  // namespace datum::sim
