#include "driver/command/submitter.hpp"

#include "driver/command/lowering.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"

namespace datum {

Submitter::Submitter(Context& context, Device& device, QueueRank rank)
    : device_(device), stream_(device.rings().open_stream(context, rank)) {
  context.add_child();
}

Submitter::~Submitter() { context().remove_child(); }

Result<std::uint64_t> Submitter::submit(std::span<const Batch> batches) {
  const std::lock_guard lock(mutex_);
  // Work that has ended meanwhile gives back its pins before new ones are taken.
  device_.rings().pump();
  Lowering lowering(device_, stream_, submission_);
  Status lowered;
  for (const Batch& batch : batches) {
    for (const Command& command : batch.commands->commands) {
      lowered = lowering.lower(*batch.commands, command, batch.in_order);
      if (!lowered) {
        submission_.clear();
        return std::move(lowered).error();
      }
    }
  }
  if (Status committed = lowering.commit(); !committed) {
    submission_.clear();
    return std::move(committed).error();
  }
  Result<std::uint64_t> end = device_.rings().submit(stream_, submission_);
  if (!end) {
    submission_.clear();
  } else if (!submission_.points.empty()) {
    submission_.follow_points(lowering.counters());
  }
  return end;
}

Status Submitter::synchronize(std::uint64_t timeout_ns) {
  return device_.rings().wait(*stream_, stream_->submitted(), timeout_ns);
}

Status Submitter::close() {
  const std::lock_guard lock(mutex_);
  return device_.rings().close_stream(*stream_);
}

}  // namespace datum
