#include "driver/command/fill_command.hpp"

#include <algorithm>

#include "driver/command/lowering.hpp"

namespace datum {

Status FillCommand::lower(Lowering& lowering) const {
  if (bytes == 0) {
    return {};
  }
  Result<Lowering::Reach> to = lowering.reach(lowering.context(), dst, bytes, board::DmaAccess::write);
  if (!to) {
    return std::move(to).error();
  }
  if (to->direct) {
    lowering.fill(device_va(dst), bytes, pattern, pattern_log2);
    return {};
  }
  Result<HostSteps*> steps = lowering.steps();
  if (!steps) {
    return std::move(steps).error();
  }
  // Staging memory is filled once: a piece is a multiple of every pattern.
  const std::uint64_t piece = std::min(bytes, (*steps)->staging_bytes());
  lowering.fence_next();
  lowering.fill(device_va((*steps)->staging()), piece, pattern, pattern_log2);
  for (std::uint64_t done = 0; done < bytes; done += piece) {
    lowering.host_step(
        {HostStep::Kind::scatter, static_cast<std::byte*>(dst) + done, std::min(piece, bytes - done), 1, 0});
  }
  return {};
}

}  // namespace datum
