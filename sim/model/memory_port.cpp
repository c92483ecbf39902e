#include "sim/model/memory_port.hpp"

#include <algorithm>
#include <cstring>

namespace datum::sim {

namespace {

constexpr std::size_t bounce_bytes = 256 * 1024;

}  // namespace

MemoryPort::MemoryPort(DramArray& dram, HostBus& host, std::uint64_t onchip_bytes, Counters& counters,
                       WordWatch& watch)
    : dram_(dram), host_(host), counters_(counters), watch_(watch), onchip_(onchip_bytes) {}

std::span<std::byte> MemoryPort::local(Physical first, std::uint64_t bytes) noexcept {
  const std::span<std::byte> whole =
      first.target == Target::onchip ? std::span{onchip_} : dram_.range(0, dram_.size_bytes());
  if (first.target == Target::host || first.address >= whole.size()) {
    return {};
  }
  return whole.subspan(first.address, std::min<std::uint64_t>(bytes, whole.size() - first.address));
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
  if (from.target == Target::host) {
    return host_.read(from.address, to, counters_.cycle);
  }
  const auto source = local(from, to.size());
  std::ranges::copy(source, to.begin());
  return source.size();
}

std::uint64_t MemoryPort::write(Physical to, std::span<const std::byte> from) {
  count(to.target, from.size(), Side::write);
  counters_.cycle += Counters::beats(from.size());
  std::uint64_t done = 0;
  if (to.target == Target::host) {
    done = host_.write(to.address, from, counters_.cycle);
  } else {
    const auto target = local(to, from.size());
    std::ranges::copy(from.first(target.size()), target.begin());
    done = target.size();
  }
  watch_.written(to, done);
  return done;
}

CopyOutcome MemoryPort::copy(Physical from, Physical to, std::uint64_t bytes) {
  if (from.target == Target::host && to.target == Target::host) {
    return bounce(from, to, bytes);
  }
  if (from.target == Target::host) {
    const auto target = local(to, bytes);
    count(to.target, target.size(), Side::write);
    const auto done = read(from, target);
    watch_.written(to, done);
    if (done < target.size()) {
      return {done, Side::read};
    }
    return {done, done < bytes ? Side::write : Side::none};
  }
  const auto source = local(from, bytes);
  count(from.target, source.size(), Side::read);
  std::uint64_t done = 0;
  if (to.target == Target::host) {
    done = write(to, source);
  } else {
    const auto target = local(to, source.size());
    count(to.target, target.size(), Side::write);
    counters_.cycle += Counters::beats(target.size());
    if (!target.empty()) {
      std::memmove(target.data(), source.data(), target.size());  // the ranges may overlap
    }
    done = target.size();
    watch_.written(to, done);
  }
  if (done < source.size()) {
    return {done, Side::write};
  }
  return {done, done < bytes ? Side::read : Side::none};
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
