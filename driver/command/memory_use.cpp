#include "driver/command/memory_use.hpp"

#include <algorithm>

#include "driver/command/region.hpp"
#include "driver/command/stream_feeder.hpp"

namespace datum {
namespace {

struct Touched {
  unsigned space = 0;
  std::uint64_t first = 0;
  std::uint64_t bytes = 0;
};

bool meets(const Touched& touched, const UsedRange& range) noexcept {
  const std::uint64_t first = raw(range.va);
  return touched.space == range.space && touched.first < first + range.bytes &&
         (touched.first >= first || first - touched.first < touched.bytes);
}

}  // namespace

bool touches(const hw::Descriptor& descriptor, const UsedRange& range) noexcept {
  const auto destination = [&](std::uint64_t bytes) {
    return meets({descriptor.dst_space(), descriptor.dst_address(), bytes}, range);
  };
  const auto source = [&](std::uint64_t bytes) {
    return meets({descriptor.src_space(), descriptor.src_address(), bytes}, range);
  };
  switch (descriptor.opcode()) {
  case hw::Opcode::nop:
  case hw::Opcode::barrier:
    return false;
  case hw::Opcode::copy:
    return destination(descriptor.bytes()) || source(descriptor.bytes());
  case hw::Opcode::copy_region: {
    const RegionShape shape{descriptor.region_x_bytes(), descriptor.region_rows(),
                            descriptor.region_planes()};
    return destination(extent_bytes(shape, {descriptor.dst_row_pitch(), descriptor.dst_slice_pitch()})) ||
           source(extent_bytes(shape, {descriptor.src_row_pitch(), descriptor.src_slice_pitch()}));
  }
  case hw::Opcode::fill:
    return destination(descriptor.bytes());
  case hw::Opcode::write_value:
  case hw::Opcode::wait_value:
  case hw::Opcode::timestamp:
    return destination(sizeof(std::uint64_t));
  }
  return false;
}

/// 0: no outstanding item does.
std::uint64_t StreamFeeder::last_use(const Stream& stream, const UsedRange& range) {
  for (std::size_t index = stream.pending_.size(); index-- > stream.pending_head_;) {
    if (touches(stream.pending_[index].descriptor, range)) {
      return stream.fed_ + 1 + (index - stream.pending_head_);
    }
  }
  if (stream.ring_ == nullptr) {
    return 0;
  }
  const Ring& ring = stream.ring_->ring;
  for (std::uint32_t behind = 0; behind != ring.filled() - ring.completed(); ++behind) {
    if (touches(ring.slot(ring.filled() - behind), range)) {
      return stream.fed_ - behind;
    }
  }
  return 0;
}

std::vector<MemoryUse> StreamFeeder::uses_of(const UsedRange& range) const {
  std::vector<MemoryUse> uses;
  for (Stream* stream : active_) {
    if (const std::uint64_t position = last_use(*stream, range); position != 0) {
      uses.push_back({stream->shared_from_this(), position});
    }
  }
  return uses;
}

void StreamFeeder::keep(const MemoryUse& use, std::shared_ptr<void> kept) {
  std::deque<Stream::HeldKeep>& keeps = use.stream->keeps_;
  const auto behind = std::find_if(
      keeps.begin(), keeps.end(), [&](const Stream::HeldKeep& held) { return held.position > use.position; });
  keeps.insert(behind, {use.position, Keep{Pin{}, nullptr, std::move(kept)}});
}

}  // namespace datum
