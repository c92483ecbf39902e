// Copies memory: bytes, or a region of rows and planes.
#pragma once

#include <datum/base/result.hpp>

#include "driver/command/region.hpp"
#include "driver/object/handle_table.hpp"

namespace datum {

class Context;
class Lowering;

/// Addresses are those of the first byte. Overlapping plain copies are legal, the bytes where source and
/// destination overlap are unspecified; regions that overlap were refused when they were appended.
struct CopyCommand {
  void* dst = nullptr;
  const void* src = nullptr;
  RegionShape shape;
  Pitches dst_pitches;
  Pitches src_pitches;
  Context* src_context = nullptr;  ///< null: the list's own
  HandleSlot* src_context_handle = nullptr;

  Status lower(Lowering& lowering) const;

 private:
  Status lower_in_pieces(Lowering& lowering, bool gather, unsigned src_space, bool scatter,
                         unsigned dst_space) const;
};

}  // namespace datum
