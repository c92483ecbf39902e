#include "sim/model/executor.hpp"

#include <algorithm>
#include <array>
#include <cstring>

#include "sim/memory/dram_geometry.hpp"

namespace datum::sim {

namespace {

constexpr std::uint64_t slice_bytes = 512UL * 1024;
constexpr std::uint64_t fill_slice_bytes = 64UL * 1024;
constexpr std::uint64_t va_end = 1ULL << 48U;

Executor::Result finished(const Failure& failure, bool completed) {
  if (failure.happened()) {
    return {Executor::Outcome::failed, failure};
  }
  return {completed ? Executor::Outcome::completed : Executor::Outcome::unfinished, {}};
}

Failure write_failure(Target target, unsigned space, std::uint64_t va) {
  return {failure_status(target), hw::FaultReason::bus_write, true, space, va};
}

/// `to` shows `pattern`, which is not longer, again and again.
void repeat(std::span<const std::byte> pattern, std::span<std::byte> to) {
  std::memcpy(to.data(), pattern.data(), pattern.size());
  for (auto shown = pattern.size(); shown < to.size();) {
    const auto more = std::min(shown, to.size() - shown);
    std::memcpy(to.data() + shown, to.data(), more);
    shown += more;
  }
}

bool condition_holds(const hw::Descriptor& descriptor, std::uint64_t word) {
  const auto masked = word & descriptor.wait_mask();
  const auto value = descriptor.words[2];
  switch (descriptor.wait_condition()) {
  case hw::WaitCondition::equal:
    return masked == value;
  case hw::WaitCondition::not_equal:
    return masked != value;
  case hw::WaitCondition::greater_equal:
    return masked >= value;
  }
  return false;
}

}  // namespace

Executor::Result Executor::step(unsigned number, Ring& ring) {
  switch (ring.descriptor.opcode()) {
  case hw::Opcode::copy:
    return copy(ring);
  case hw::Opcode::copy_region:
    return copy_region(ring);
  case hw::Opcode::fill:
    return fill(ring);
  case hw::Opcode::write_value:
    return write_value(ring, ring.descriptor.words[2], 1U << ring.descriptor.size_code());
  case hw::Opcode::wait_value:
    return wait_value(number, ring);
  case hw::Opcode::timestamp:
    return write_value(ring, timebase_.now_ns(counters_.cycle), sizeof(std::uint64_t));
  case hw::Opcode::nop:
  case hw::Opcode::barrier:
    break;
  }
  return {Outcome::completed, {}};
}

Failure Executor::check_range(const Ring& ring, Place place, std::uint64_t bytes, bool write) noexcept {
  if (!ring.may_name(place.space)) {
    return {hw::Status::mmu, hw::FaultReason::space_not_allowed, write, place.space, place.va};
  }
  if (place.va >= va_end || bytes > va_end - place.va) {
    return {hw::Status::mmu, hw::FaultReason::not_canonical, write, place.space, place.va};
  }
  return {};
}

Failure Executor::read_failure(Target target, Place place) const noexcept {
  const auto reason = memory_.uncorrectable() ? hw::FaultReason::uncorrectable : hw::FaultReason::bus_read;
  return {failure_status(target), reason, false, place.space, place.va};
}

Failure Executor::translate(Place place, std::uint64_t max_bytes, bool write, Mmu::Translation& to) {
  to = mmu_.translate(place.space, place.va, max_bytes, write);
  if (to.reason != hw::FaultReason::none) {
    return {hw::Status::mmu, to.reason, write, place.space, place.va};
  }
  return {};
}

Failure Executor::copy_slice(const Ring& ring, Place from, Place to, std::uint64_t bytes,
                             std::uint64_t& done) {
  if (auto failure = check_range(ring, from, bytes, false); failure.happened()) {
    return failure;
  }
  if (auto failure = check_range(ring, to, bytes, true); failure.happened()) {
    return failure;
  }
  // Slices end at a column of the destination, so that none is written in two parts.
  const auto goal = std::min(bytes - done, slice_bytes - (to.va + done) % column_bytes);
  for (std::uint64_t moved = 0; moved < goal;) {
    const Place source{from.space, from.va + done};
    const Place target{to.space, to.va + done};
    Mmu::Translation read;
    Mmu::Translation write;
    if (auto failure = translate(source, goal - moved, false, read); failure.happened()) {
      return failure;
    }
    if (auto failure = translate(target, read.bytes, true, write); failure.happened()) {
      return failure;
    }
    const auto outcome = memory_.copy(read.at, write.at, write.bytes);
    done += outcome.bytes;
    moved += outcome.bytes;
    if (outcome.failed == Side::read) {
      return read_failure(read.at.target, {source.space, source.va + outcome.bytes});
    }
    if (outcome.failed == Side::write) {
      return write_failure(write.at.target, target.space, target.va + outcome.bytes);
    }
  }
  return {};
}

Executor::Result Executor::copy(Ring& ring) {
  const auto& descriptor = ring.descriptor;
  const auto bytes = descriptor.bytes();
  auto& done = ring.progress.bytes;
  if (bytes == 0) {
    return {Outcome::completed, {}};
  }
  const auto failure = copy_slice(ring, {descriptor.src_space(), descriptor.src_address()},
                                  {descriptor.dst_space(), descriptor.dst_address()}, bytes, done);
  return finished(failure, done == bytes);
}

Executor::Result Executor::copy_region(Ring& ring) {
  const auto& descriptor = ring.descriptor;
  auto& at = ring.progress;
  const auto row_bytes = descriptor.region_x_bytes();
  const auto rows = descriptor.region_rows();
  const auto planes = descriptor.region_planes();
  if (row_bytes == 0 || rows == 0 || planes == 0) {
    return {Outcome::completed, {}};
  }
  for (std::uint64_t moved = 0; moved < slice_bytes && at.plane < planes;) {
    const auto source = descriptor.src_address() + at.plane * descriptor.src_slice_pitch() +
                        at.row * descriptor.src_row_pitch();
    const auto target = descriptor.dst_address() + at.plane * descriptor.dst_slice_pitch() +
                        at.row * descriptor.dst_row_pitch();
    const auto before = at.bytes;
    const auto failure = copy_slice(ring, {descriptor.src_space(), source}, {descriptor.dst_space(), target},
                                    row_bytes, at.bytes);
    if (failure.happened()) {
      return {Outcome::failed, failure};
    }
    moved += at.bytes - before;
    if (at.bytes < row_bytes) {
      continue;
    }
    at.bytes = 0;
    if (++at.row == rows) {
      at.row = 0;
      ++at.plane;
    }
  }
  return finished({}, at.plane == planes);
}

Executor::Result Executor::fill(Ring& ring) {
  const auto& descriptor = ring.descriptor;
  const auto bytes = descriptor.bytes();
  auto& done = ring.progress.bytes;
  if (bytes == 0) {
    return {Outcome::completed, {}};
  }
  const Place whole{descriptor.dst_space(), descriptor.dst_address()};
  if (auto failure = check_range(ring, whole, bytes, true); failure.happened()) {
    return {Outcome::failed, failure};
  }
  const std::array<std::uint64_t, 2> pattern{descriptor.words[2], descriptor.pattern_high()};
  const auto pattern_bytes = std::size_t{1} << descriptor.size_code();
  // A piece may begin anywhere in the pattern.
  pattern_.resize(std::min(bytes, fill_slice_bytes) + pattern_bytes);
  repeat(std::as_bytes(std::span{pattern}).first(pattern_bytes), pattern_);
  const auto end = std::min(bytes, done + slice_bytes - (whole.va + done) % column_bytes);
  while (done < end) {
    const Place place{whole.space, whole.va + done};
    Mmu::Translation run;
    if (auto failure =
            translate(place, std::min(end - done, fill_slice_bytes - place.va % column_bytes), true, run);
        failure.happened()) {
      return {Outcome::failed, failure};
    }
    const auto written = memory_.write(run.at, std::span{pattern_}.subspan(done % pattern_bytes, run.bytes));
    done += written;
    if (written < run.bytes) {
      return {Outcome::failed, write_failure(run.at.target, place.space, place.va + written)};
    }
  }
  return finished({}, done == bytes);
}

Executor::Result Executor::write_value(Ring& ring, std::uint64_t value, unsigned bytes) {
  const Place place{ring.descriptor.dst_space(), ring.descriptor.dst_address()};
  if (auto failure = check_range(ring, place, bytes, true); failure.happened()) {
    return {Outcome::failed, failure};
  }
  Mmu::Translation to;
  if (auto failure = translate(place, bytes, true, to); failure.happened()) {
    return {Outcome::failed, failure};
  }
  const auto image = std::as_bytes(std::span{&value, 1}).first(bytes);
  if (memory_.write(to.at, image) != bytes) {
    return {Outcome::failed, write_failure(to.at.target, place.space, place.va)};
  }
  return {Outcome::completed, {}};
}

Executor::Result Executor::wait_value(unsigned number, Ring& ring) {
  const auto& descriptor = ring.descriptor;
  const Place place{descriptor.dst_space(), descriptor.dst_address()};
  if (auto failure = check_range(ring, place, sizeof(std::uint64_t), false); failure.happened()) {
    return {Outcome::failed, failure};
  }
  Mmu::Translation from;
  if (auto failure = translate(place, sizeof(std::uint64_t), false, from); failure.happened()) {
    return {Outcome::failed, failure};
  }
  std::uint64_t word = 0;
  if (memory_.read(from.at, std::as_writable_bytes(std::span{&word, 1})) != sizeof word) {
    if (memory_.pending()) {
      watch_.watch(number, from.at);  // a write from now on may be younger than the answer
    }
    return {Outcome::failed, read_failure(from.at.target, place)};
  }
  if ((word & descriptor.wait_error_mask()) != 0) {
    return {Outcome::failed, {hw::Status::dependency, hw::FaultReason::none, false, place.space, place.va}};
  }
  if (condition_holds(descriptor, word)) {
    return {Outcome::completed, {}};
  }
  watch_.watch(number, from.at);
  return {Outcome::parked, {}};
}

}  // namespace datum::sim
