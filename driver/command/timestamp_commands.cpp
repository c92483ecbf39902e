#include "driver/command/timestamp_commands.hpp"

#include "driver/command/lowering.hpp"

namespace datum {

Status TimestampCommand::lower(Lowering& lowering) const {
  Result<Lowering::Reach> to = lowering.reach(lowering.context(), dst, sizeof *dst, board::DmaAccess::write);
  if (!to) {
    return std::move(to).error();
  }
  if (to->direct) {
    lowering.timestamp(device_va(dst));
    return {};
  }
  Result<HostSteps*> steps = lowering.steps();
  if (!steps) {
    return std::move(steps).error();
  }
  lowering.timestamp(device_va((*steps)->staging()));
  lowering.host_step({HostStep::Kind::scatter, reinterpret_cast<std::byte*>(dst), sizeof *dst, 1, 0});
  return {};
}

Status QueryTimestampsCommand::lower(Lowering& lowering) const {
  Event* source = event.get();
  if (source == nullptr) {
    return make_error(ErrorCode::invalid_synchronization_object,
                      "an event whose timestamps the command list queries was destroyed");
  }
  constexpr std::uint64_t times_bytes = 2 * sizeof(std::uint64_t);
  const EventSlot& slot = source->slot();
  Result<Lowering::Reach> to =
      lowering.reach(lowering.context(), dst, 2 * times_bytes, board::DmaAccess::write);
  if (!to) {
    return std::move(to).error();
  }
  DeviceVa target = device_va(dst);
  if (!to->direct) {
    Result<HostSteps*> steps = lowering.steps();
    if (!steps) {
      return std::move(steps).error();
    }
    target = device_va((*steps)->staging());
  }
  lowering.fence_next();  // the times are final, and staging memory is free, when everything before has ended
  lowering.copy_from_event(target, *source, slot.start_ns, times_bytes);
  lowering.copy_from_event(target + times_bytes, *source, slot.start_ns, times_bytes);
  if (!to->direct) {
    lowering.host_step({HostStep::Kind::scatter, static_cast<std::byte*>(dst), 2 * times_bytes, 1, 0});
  }
  return {};
}

}  // namespace datum
