#include "tests/fakes/fault_function.hpp"

namespace datum::test {

void FaultFunction::fail(FunctionCall kind, unsigned number, Error error, bool and_all_later) {
  const std::lock_guard lock(mutex_);
  orders_[static_cast<std::size_t>(kind)] = {number, and_all_later, std::move(error)};
}

void FaultFunction::heal() {
  const std::lock_guard lock(mutex_);
  orders_.fill({});
}

unsigned FaultFunction::calls(FunctionCall kind) const {
  const std::lock_guard lock(mutex_);
  return calls_[static_cast<std::size_t>(kind)];
}

std::optional<Error> FaultFunction::next(FunctionCall kind) {
  const std::lock_guard lock(mutex_);
  ++calls_[static_cast<std::size_t>(kind)];
  auto& order = orders_[static_cast<std::size_t>(kind)];
  if (order.countdown == 0 || --order.countdown != 0) {
    return std::nullopt;
  }
  order.countdown = order.and_all_later ? 1 : 0;
  return order.error;
}

Result<board::Bar*> FaultFunction::bar(unsigned index) {
  if (auto error = next(FunctionCall::bar)) {
    return *std::move(error);
  }
  return ForwardingFunction::bar(index);
}

Status FaultFunction::dma_map(Iova iova, std::span<std::byte> host, board::DmaAccess access) {
  if (auto error = next(FunctionCall::dma_map)) {
    return *std::move(error);
  }
  Status mapped = ForwardingFunction::dma_map(iova, host, access);
  mapped_bytes_ += mapped ? host.size() : 0;
  return mapped;
}

Status FaultFunction::dma_map_fd(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                                 board::DmaAccess access) {
  if (auto error = next(FunctionCall::dma_map_fd)) {
    return *std::move(error);
  }
  Status mapped = ForwardingFunction::dma_map_fd(iova, fd, offset, bytes, access);
  mapped_bytes_ += mapped ? bytes : 0;
  return mapped;
}

Status FaultFunction::dma_unmap(Iova iova, std::uint64_t bytes) {
  if (auto error = next(FunctionCall::dma_unmap)) {
    return *std::move(error);
  }
  Status unmapped = ForwardingFunction::dma_unmap(iova, bytes);
  mapped_bytes_ -= unmapped ? bytes : 0;
  return unmapped;
}

Result<int> FaultFunction::interrupt_fd(unsigned vector) {
  if (auto error = next(FunctionCall::interrupt_fd)) {
    return *std::move(error);
  }
  return ForwardingFunction::interrupt_fd(vector);
}

Result<board::WaitOutcome> FaultFunction::wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) {
  if (auto error = next(FunctionCall::wait)) {
    return *std::move(error);
  }
  return ForwardingFunction::wait(vector, wake_fd, deadline_ns);
}

Status FaultFunction::reset(board::ResetKind kind) {
  if (auto error = next(FunctionCall::reset)) {
    return *std::move(error);
  }
  return ForwardingFunction::reset(kind);
}

Status FaultFunction::health() {
  if (auto error = next(FunctionCall::health)) {
    return *std::move(error);
  }
  return ForwardingFunction::health();
}

Result<UniqueFd> FaultFunction::export_memory(std::span<const board::DeviceRange> ranges,
                                              std::string_view label) {
  if (auto error = next(FunctionCall::export_memory)) {
    return *std::move(error);
  }
  return ForwardingFunction::export_memory(ranges, label);
}

Status FaultFunction::end_export(std::span<const board::DeviceRange> ranges) {
  if (auto error = next(FunctionCall::end_export)) {
    return *std::move(error);
  }
  return ForwardingFunction::end_export(ranges);
}

}  // namespace datum::test
