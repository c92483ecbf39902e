#include "driver/command/submitter.hpp"

#include <datum/base/mutex.hpp>

#include "driver/command/lowering.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"

namespace datum {

namespace {

/// What was not submitted, whatever the reason, must not go with the next submission. What was is gone
/// already.
struct ClearedAtEnd {
  Submission& submission;

  explicit ClearedAtEnd(Submission& to_clear) noexcept : submission(to_clear) {}

  ClearedAtEnd(const ClearedAtEnd&) = delete;
  ClearedAtEnd& operator=(const ClearedAtEnd&) = delete;

  ~ClearedAtEnd() { submission.clear(); }
};

}  // namespace

Submitter::Submitter(Context& context, Device& device, QueueRank rank)
    : device_(device), stream_(device.rings().open_stream(context, rank)) {
  context.add_child();
}

Submitter::~Submitter() { context().remove_child(); }

Result<std::uint64_t> Submitter::submit(std::span<const Batch> batches) {
  const ScopedLock lock(mutex_);
  // Work that has ended meanwhile gives back its pins before new ones are taken.
  device_.rings().pump();
  const ClearedAtEnd cleared{submission_};
  Lowering lowering(device_, stream_, submission_);
  for (const Batch& batch : batches) {
    for (const Command& command : batch.commands->commands) {
      if (Status lowered = lowering.lower(*batch.commands, command, batch.in_order); !lowered) {
        return std::move(lowered).error();
      }
    }
  }
  if (Status committed = lowering.commit(); !committed) {
    return std::move(committed).error();
  }
  Result<std::uint64_t> end = device_.rings().submit(stream_, submission_);
  if (end && !submission_.points.empty()) {
    submission_.follow_points(lowering.counters());
  }
  return end;
}

Status Submitter::synchronize(std::uint64_t timeout_ns) {
  Status waited = device_.rings().wait(*stream_, stream_->submitted(), timeout_ns);
  return waited ? context().alive() : waited;
}

Status Submitter::close() {
  const ScopedLock lock(mutex_);
  return device_.rings().close_stream(*stream_);
}

}  // namespace datum
