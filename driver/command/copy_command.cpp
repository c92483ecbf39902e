#include "driver/command/copy_command.hpp"

#include <algorithm>

#include "driver/command/lowering.hpp"
#include "driver/object/context.hpp"

namespace datum {

Status CopyCommand::lower(Lowering& lowering) const {
  if (shape.empty()) {
    return {};
  }
  Context* source_context = &lowering.context();
  if (src_context != nullptr) {
    source_context = src_context;
    if (find_object(ObjectType::context, src_context_handle) != src_context) {
      return make_error(ErrorCode::invalid_argument, "the context of the copy's source was destroyed");
    }
  }
  Result<Lowering::Reach> from = lowering.reach(source_context->reaching(lowering.device(), src), src,
                                                extent_bytes(shape, src_pitches), board::DmaAccess::read);
  if (!from) {
    return std::move(from).error();
  }
  Result<Lowering::Reach> to = lowering.reach(lowering.context().reaching(lowering.device(), dst), dst,
                                              extent_bytes(shape, dst_pitches), board::DmaAccess::write);
  if (!to) {
    return std::move(to).error();
  }
  if (!from->direct || !to->direct) {
    return lower_in_pieces(lowering, !from->direct, from->space, !to->direct, to->space);
  }
  if (shape.rows == 1 && shape.planes == 1) {
    lowering.copy(to->space, device_va(dst), from->space, device_va(src), shape.row_bytes);
  } else {
    lowering.copy_region(to->space, device_va(dst), dst_pitches, from->space, device_va(src), src_pitches,
                         shape);
  }
  return {};
}

/// Through staging memory, as many rows, or as much of one row, as fit.
Status CopyCommand::lower_in_pieces(Lowering& lowering, bool gather, unsigned src_space, bool scatter,
                                    unsigned dst_space) const {
  Result<HostSteps*> steps = lowering.steps();
  if (!steps) {
    return std::move(steps).error();
  }
  const DeviceVa staging = device_va((*steps)->staging());
  const std::uint64_t room = (*steps)->staging_bytes();
  const std::uint64_t width = std::min(shape.row_bytes, room);
  const std::uint64_t rows_at_once = width < shape.row_bytes ? 1 : std::min(shape.rows, room / width);
  const auto piece = [&](std::uint64_t plane, std::uint64_t row, std::uint64_t rows, std::uint64_t x,
                         std::uint64_t bytes) {
    auto* from = const_cast<std::byte*>(static_cast<const std::byte*>(src)) + plane * src_pitches.plane +
                 row * src_pitches.row + x;
    std::byte* to = static_cast<std::byte*>(dst) + plane * dst_pitches.plane + row * dst_pitches.row + x;
    const RegionShape part{bytes, rows, 1};
    const Pitches packed{bytes, bytes * rows};
    if (gather) {
      lowering.host_step({HostStep::Kind::gather, from, bytes, rows, src_pitches.row});
    } else {
      lowering.fence_next();  // what was staged before must have been read
      lowering.copy_region(lowering.space(), staging, packed, src_space, device_va(from), src_pitches, part);
    }
    if (scatter) {
      lowering.host_step({HostStep::Kind::scatter, to, bytes, rows, dst_pitches.row});
    } else {
      lowering.copy_region(dst_space, device_va(to), dst_pitches, lowering.space(), staging, packed, part);
    }
  };
  for (std::uint64_t plane = 0; plane < shape.planes; ++plane) {
    for (std::uint64_t row = 0; row < shape.rows; row += rows_at_once) {
      for (std::uint64_t x = 0; x < shape.row_bytes; x += width) {
        piece(plane, row, std::min(rows_at_once, shape.rows - row), x, std::min(width, shape.row_bytes - x));
      }
    }
  }
  return {};
}

}  // namespace datum
