#include "driver/command/event_commands.hpp"

#include "driver/command/lowering.hpp"

namespace datum {

Status BarrierCommand::lower(Lowering& lowering) const {
  lowering.barrier();
  return {};
}

Status SynchronizeCommand::lower(Lowering& /*lowering*/) const { return {}; }

Status ResetEventCommand::lower(Lowering& lowering) const {
  Event* target = event.get();
  if (target == nullptr) {
    return make_error(ErrorCode::invalid_synchronization_object,
                      "an event that the command list resets was destroyed");
  }
  lowering.write_word(device_va(&target->slot().state), event_word::cleared, target, false);
  return {};
}

}  // namespace datum
