// Draws programs. Two operations that touch a byte of which one is written are kept apart: by a barrier on
// one queue, by an event between two queues. Everything else may overlap, which is what the boards are to
// prove.
#include <algorithm>
#include <array>
#include <cstring>

#include "cosim/program.hpp"
#include "cosim/random.hpp"

namespace datum::cosim {
namespace {

constexpr std::uint64_t largest_buffer_bytes = 12'000;
constexpr std::uint64_t longest_copy_bytes = 3'000;

struct Range {
  unsigned buffer = 0;
  std::uint64_t first = 0;
  std::uint64_t end = 0;

  [[nodiscard]] bool meets(const Range& other) const {
    return buffer == other.buffer && first < other.end && other.first < end;
  }
};

std::uint64_t box_end(const Box& box, const Extent& extent) {
  const std::uint64_t planes = std::max(extent.depth, 1U);
  return (box.z + planes - 1) * std::uint64_t{box.slice_pitch} +
         (box.y + extent.height - 1) * std::uint64_t{box.pitch} + box.x + extent.width;
}

std::uint64_t box_first(const Box& box) {
  return box.z * std::uint64_t{box.slice_pitch} + box.y * std::uint64_t{box.pitch} + box.x;
}

Range written(const Operation& operation) {
  if (operation.kind == Kind::copy_region) {
    return {operation.to.buffer, operation.to.offset + box_first(operation.to_box),
            operation.to.offset + box_end(operation.to_box, operation.extent)};
  }
  return {operation.to.buffer, operation.to.offset, operation.to.offset + operation.bytes};
}

Range read(const Operation& operation) {
  if (operation.kind == Kind::copy_region) {
    return {operation.from.buffer, operation.from.offset + box_first(operation.from_box),
            operation.from.offset + box_end(operation.from_box, operation.extent)};
  }
  return operation.kind == Kind::copy
             ? Range{operation.from.buffer, operation.from.offset, operation.from.offset + operation.bytes}
             : Range{};
}

bool depends(const Operation& later, const Operation& earlier) {
  if (later.kind == Kind::barrier || earlier.kind == Kind::barrier) {
    return false;
  }
  return written(later).meets(written(earlier)) || written(later).meets(read(earlier)) ||
         read(later).meets(written(earlier));
}

/// Whether something makes `later` wait for the end of `earlier`, without the help of third ones.
bool keeps_behind(const Program& program, unsigned earlier, unsigned later) {
  const Operation& operation = program.operations[later];
  if (std::find(operation.waits.begin(), operation.waits.end(), earlier) != operation.waits.end()) {
    return true;
  }
  if (operation.queue != program.operations[earlier].queue) {
    return false;
  }
  bool same_list = program.queues[operation.queue] == QueueKind::in_order_lists;
  for (unsigned between = earlier + 1; between <= later; ++between) {
    const Operation& other = program.operations[between];
    if (other.queue == operation.queue) {
      if (other.barrier_before || other.kind == Kind::barrier) {
        return true;
      }
      same_list = same_list && !other.starts_list;
    }
  }
  return same_list;
}

class Generator {
 public:
  explicit Generator(std::uint64_t seed) : random_(seed) { program_.seed = seed; }

  Program make() {
    draw_buffers();
    draw_queues();
    const std::uint64_t count = random_.between(8, 60);
    for (std::uint64_t i = 0; i < count; ++i) {
      Operation operation = draw_operation();
      order(operation);
      program_.operations.push_back(std::move(operation));
    }
    return std::move(program_);
  }

 private:
  void draw_buffers() {
    constexpr std::array places{Place::device, Place::device, Place::onchip,
                                Place::host,   Place::shared, Place::system};
    const std::uint64_t count = random_.between(3, 7);
    for (std::uint64_t i = 0; i < count; ++i) {
      const Place place = i == 0 ? Place::device : places[random_.below(places.size())];
      program_.buffers.push_back({place, random_.between(64, largest_buffer_bytes)});
    }
  }

  void draw_queues() {
    const std::uint64_t count = random_.between(1, 5);
    for (std::uint64_t i = 0; i < count; ++i) {
      program_.queues.push_back(static_cast<QueueKind>(random_.below(3)));
      barrier_at_.push_back(0);
      list_begun_at_.push_back(0);
      used_.push_back(false);
    }
  }

  Operation draw_operation() {
    Operation operation;
    operation.queue = static_cast<unsigned>(random_.below(program_.queues.size()));
    const std::uint64_t dice = random_.below(10);
    if (dice < 5) {
      draw_copy(operation);
    } else if (dice < 7) {
      draw_fill(operation);
    } else if (dice < 9) {
      draw_region(operation);
    } else {
      operation.kind = Kind::barrier;
    }
    return operation;
  }

  Spot draw_spot(std::uint64_t bytes) {
    Spot spot;
    spot.buffer = static_cast<unsigned>(random_.below(program_.buffers.size()));
    const std::uint64_t size = program_.buffers[spot.buffer].size_bytes;
    spot.offset = size > bytes ? random_.below(size - bytes + 1) : 0;
    return spot;
  }

  void draw_copy(Operation& operation) {
    operation.kind = Kind::copy;
    do {
      // Short ones are as interesting as long ones, and so are those that end at a beat or a page.
      const std::uint64_t most = random_.one_in(3) ? longest_copy_bytes : random_.one_in(2) ? 130 : 600;
      operation.bytes = random_.one_in(20) ? 0 : random_.between(1, most);
      operation.to = draw_spot(operation.bytes);
      operation.from = draw_spot(operation.bytes);
      operation.bytes = std::min({operation.bytes, room(operation.to), room(operation.from)});
    } while (written(operation).meets(read(operation)));
  }

  void draw_fill(Operation& operation) {
    operation.kind = Kind::fill;
    const std::uint64_t pattern_bytes = std::uint64_t{1} << random_.below(5);
    operation.value = random_bytes(pattern_bytes, random_.next());
    operation.bytes = random_.below(longest_copy_bytes / pattern_bytes) * pattern_bytes;
    operation.to = draw_spot(operation.bytes);
    operation.to.offset -= operation.to.offset % pattern_bytes;
    operation.bytes = std::min(operation.bytes, room(operation.to) / pattern_bytes * pattern_bytes);
  }

  void draw_region(Operation& operation) {
    operation.kind = Kind::copy_region;
    for (int attempt = 0; attempt < 50; ++attempt) {
      operation.extent = {static_cast<std::uint32_t>(random_.between(1, 120)),
                          static_cast<std::uint32_t>(random_.between(1, 8)),
                          static_cast<std::uint32_t>(random_.below(4))};
      operation.to_box = draw_box(operation.extent);
      operation.from_box = draw_box(operation.extent);
      operation.to = draw_spot(box_end(operation.to_box, operation.extent));
      operation.from = draw_spot(box_end(operation.from_box, operation.extent));
      const bool fits = written(operation).end <= program_.buffers[operation.to.buffer].size_bytes &&
                        read(operation).end <= program_.buffers[operation.from.buffer].size_bytes;
      if (fits && !written(operation).meets(read(operation))) {
        return;
      }
    }
    draw_copy(operation);  // the buffers are too small for boxes
  }

  Box draw_box(const Extent& extent) {
    Box box;
    box.x = static_cast<std::uint32_t>(random_.below(10));
    box.y = static_cast<std::uint32_t>(random_.below(3));
    box.z = extent.depth == 0 ? 0 : static_cast<std::uint32_t>(random_.below(3));
    box.pitch = box.x + extent.width + static_cast<std::uint32_t>(random_.below(20));
    box.slice_pitch = box.pitch * (box.y + extent.height + static_cast<std::uint32_t>(random_.below(2)));
    return box;
  }

  [[nodiscard]] std::uint64_t room(const Spot& spot) const {
    return program_.buffers[spot.buffer].size_bytes - spot.offset;
  }

  /// Gives the operation its place in its queue, and whatever keeps it behind those that it depends on.
  void order(Operation& operation) {
    const auto index = static_cast<unsigned>(program_.operations.size());
    const unsigned queue = operation.queue;
    operation.starts_list =
        !used_[queue] || (program_.queues[queue] != QueueKind::immediate && random_.one_in(4));
    if (operation.starts_list) {
      list_begun_at_[queue] = index;
      used_[queue] = true;
    }
    operation.barrier_before = operation.kind != Kind::barrier && random_.one_in(12);
    for (unsigned earlier = 0; earlier < index; ++earlier) {
      Operation& other = program_.operations[earlier];
      if (!depends(operation, other)) {
        continue;
      }
      if (other.queue != queue || random_.one_in(6)) {
        other.signals = true;
        operation.waits.push_back(earlier);
      } else if (!kept_in_order(queue, earlier)) {
        operation.barrier_before = true;
      }
    }
    operation.signals = random_.one_in(5);
    operation.gated = random_.one_in(10);
    if (operation.barrier_before || operation.kind == Kind::barrier) {
      barrier_at_[queue] = index;
    }
  }

  [[nodiscard]] bool kept_in_order(unsigned queue, unsigned earlier) const {
    const bool barrier_since = barrier_at_[queue] > earlier;
    const bool one_ordered_list =
        program_.queues[queue] == QueueKind::in_order_lists && list_begun_at_[queue] <= earlier;
    return barrier_since || one_ordered_list;
  }

  Random random_;
  Program program_;
  std::vector<unsigned> barrier_at_;     ///< per queue: the last operation that has a barrier before it
  std::vector<unsigned> list_begun_at_;  ///< per queue: the first operation of the current list
  std::vector<bool> used_;
};

}  // namespace

std::vector<std::uint8_t> random_bytes(std::size_t count, std::uint64_t seed) {
  std::vector<std::uint8_t> bytes(count);
  Random random(seed * 0x100000001b3ULL + 0x51ULL);
  for (std::size_t done = 0; done < count; done += sizeof(std::uint64_t)) {
    const std::uint64_t word = random.next();
    std::memcpy(bytes.data() + done, &word, std::min(sizeof word, count - done));
  }
  return bytes;
}

bool is_ordered(const Program& program) {
  for (unsigned later = 0; later < program.operations.size(); ++later) {
    for (unsigned earlier = 0; earlier < later; ++earlier) {
      if (depends(program.operations[later], program.operations[earlier]) &&
          !keeps_behind(program, earlier, later)) {
        return false;
      }
    }
  }
  return true;
}

Program make_program(std::uint64_t seed, unsigned limit) {
  Program program = Generator(seed).make();
  if (limit != 0 && limit < program.operations.size()) {
    program.operations.resize(limit);
  }
  return program;
}

std::vector<std::uint8_t> initial_bytes(const Program& program, unsigned buffer) {
  return random_bytes(program.buffers[buffer].size_bytes, program.seed * 31 + buffer);
}

}  // namespace datum::cosim
