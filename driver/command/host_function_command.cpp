#include "driver/command/host_function_command.hpp"

#include "driver/command/lowering.hpp"

namespace datum {

Status HostFunctionCommand::lower(Lowering& lowering) const {
  if (Result<HostSteps*> steps = lowering.steps(false); !steps) {
    return std::move(steps).error();
  }
  lowering.fence_next();
  HostStep step;
  step.kind = HostStep::Kind::call;
  step.function = function;
  step.argument = argument;
  lowering.host_step(step);
  return {};
}

}  // namespace datum
