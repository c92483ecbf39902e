#include "tests/fakes/trace_function.hpp"

#include <utility>

namespace datum::test {

using Kind = TracedCall::Kind;

namespace {

TracedCall call_about(Kind kind, std::span<const board::DeviceRange> ranges) {
  TracedCall call{kind, 0, 0, 0, 0, true, {}};
  for (const auto& range : ranges) {
    call.bytes += range.bytes;
  }
  if (!ranges.empty()) {
    call.address = ranges.front().first.offset_bytes;
    call.value = ranges.front().first.ordinal;
  }
  return call;
}

}  // namespace

class TraceFunction::TracedBar final : public board::Bar {
 public:
  TracedBar(TraceFunction& owner, board::Bar& inner, unsigned index)
      : owner_(owner), inner_(inner), index_(index) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return inner_.size_bytes(); }

  [[nodiscard]] std::uint32_t read32(std::uint64_t offset) noexcept override {
    const auto value = inner_.read32(offset);
    owner_.record({Kind::read32, index_, offset, sizeof value, value, true, {}});
    return value;
  }

  [[nodiscard]] std::uint64_t read64(std::uint64_t offset) noexcept override {
    const auto value = inner_.read64(offset);
    owner_.record({Kind::read64, index_, offset, sizeof value, value, true, {}});
    return value;
  }

  void write32(std::uint64_t offset, std::uint32_t value) noexcept override {
    inner_.write32(offset, value);
    owner_.record({Kind::write32, index_, offset, sizeof value, value, true, {}});
  }

  void write64(std::uint64_t offset, std::uint64_t value) noexcept override {
    inner_.write64(offset, value);
    owner_.record({Kind::write64, index_, offset, sizeof value, value, true, {}});
  }

  void read_block(std::uint64_t offset, std::span<std::byte> to) noexcept override {
    inner_.read_block(offset, to);
    owner_.record({Kind::read_block, index_, offset, to.size(), 0, true, {}});
  }

  void write_block(std::uint64_t offset, std::span<const std::byte> from) noexcept override {
    inner_.write_block(offset, from);
    owner_.record({Kind::write_block, index_, offset, from.size(), 0, true, {}});
  }

 private:
  TraceFunction& owner_;
  board::Bar& inner_;
  unsigned index_;
};

TraceFunction::TraceFunction(std::unique_ptr<board::PcieFunction> inner)
    : ForwardingFunction(std::move(inner)) {}

TraceFunction::~TraceFunction() = default;

std::vector<TracedCall> TraceFunction::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

std::vector<TracedCall> TraceFunction::take() {
  const std::lock_guard lock(mutex_);
  return std::exchange(calls_, {});
}

void TraceFunction::record(TracedCall call) {
  const std::lock_guard lock(mutex_);
  calls_.push_back(call);
}

template <class T>
Result<T> TraceFunction::record(TracedCall call, Result<T> result) {
  call.ok = result.ok();
  call.error = result.ok() ? ErrorCode{} : result.error().code;
  record(call);
  return result;
}

Result<board::Bar*> TraceFunction::bar(unsigned index) {
  auto inner = record({Kind::bar, index, 0, 0, 0, true, {}}, ForwardingFunction::bar(index));
  if (!inner) {
    return inner;
  }
  const std::lock_guard lock(mutex_);
  auto& bar = bars_.at(index);
  if (bar == nullptr) {
    bar = std::make_unique<TracedBar>(*this, **inner, index);
  }
  return bar.get();
}

Status TraceFunction::dma_map(Iova iova, std::span<std::byte> host, board::DmaAccess access) {
  return record({Kind::dma_map, 0, raw(iova), host.size(), static_cast<std::uint64_t>(access), true, {}},
                ForwardingFunction::dma_map(iova, host, access));
}

Status TraceFunction::dma_map_fd(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                                 board::DmaAccess access) {
  return record({Kind::dma_map_fd, 0, raw(iova), bytes, static_cast<std::uint64_t>(access), true, {}},
                ForwardingFunction::dma_map_fd(iova, fd, offset, bytes, access));
}

Status TraceFunction::dma_unmap(Iova iova, std::uint64_t bytes) {
  return record({Kind::dma_unmap, 0, raw(iova), bytes, 0, true, {}},
                ForwardingFunction::dma_unmap(iova, bytes));
}

Result<int> TraceFunction::interrupt_fd(unsigned vector) {
  return record({Kind::interrupt_fd, 0, vector, 0, 0, true, {}}, ForwardingFunction::interrupt_fd(vector));
}

Result<board::WaitOutcome> TraceFunction::wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) {
  auto outcome = ForwardingFunction::wait(vector, wake_fd, deadline_ns);
  const auto value = outcome ? static_cast<std::uint64_t>(*outcome) : 0;
  return record({Kind::wait, 0, vector, 0, value, true, {}}, std::move(outcome));
}

Status TraceFunction::reset(board::ResetKind kind) {
  return record({Kind::reset, 0, 0, 0, static_cast<std::uint64_t>(kind), true, {}},
                ForwardingFunction::reset(kind));
}

Status TraceFunction::health() {
  return record({Kind::health, 0, 0, 0, 0, true, {}}, ForwardingFunction::health());
}

std::vector<board::DmaFault> TraceFunction::take_dma_faults() {
  auto faults = ForwardingFunction::take_dma_faults();
  record({Kind::take_dma_faults, 0, 0, 0, faults.size(), true, {}});
  return faults;
}

Result<UniqueFd> TraceFunction::export_memory(std::span<const board::DeviceRange> ranges,
                                              std::string_view label) {
  return record(call_about(Kind::export_memory, ranges), ForwardingFunction::export_memory(ranges, label));
}

Status TraceFunction::end_export(std::span<const board::DeviceRange> ranges) {
  return record(call_about(Kind::end_export, ranges), ForwardingFunction::end_export(ranges));
}

}  // namespace datum::test
