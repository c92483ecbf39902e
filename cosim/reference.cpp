// The program on the host, one operation after the other, and in words.
#include <algorithm>
#include <cstring>
#include <string>

#include <fmt/format.h>

#include "cosim/program.hpp"

namespace datum::cosim {
namespace {

void copy_box(std::vector<std::uint8_t>& to, const std::vector<std::uint8_t>& from,
              const Operation& operation) {
  const auto at = [](const Spot& spot, const Box& box, std::uint64_t y, std::uint64_t z) {
    return spot.offset + (box.z + z) * box.slice_pitch + (box.y + y) * box.pitch + box.x;
  };
  for (std::uint64_t z = 0; z < std::max(operation.extent.depth, 1U); ++z) {
    for (std::uint64_t y = 0; y < operation.extent.height; ++y) {
      std::memmove(to.data() + at(operation.to, operation.to_box, y, z),
                   from.data() + at(operation.from, operation.from_box, y, z), operation.extent.width);
    }
  }
}

const char* name_of(Place place) {
  switch (place) {
  case Place::device:
    return "device";
  case Place::onchip:
    return "on-chip";
  case Place::host:
    return "host";
  case Place::shared:
    return "shared";
  case Place::system:
    return "system";
  }
  return "?";
}

std::string box_text(const Spot& spot, const Box& box) {
  return fmt::format("buffer {} + {} at ({}, {}, {}), pitches {} and {}", spot.buffer, spot.offset, box.x,
                     box.y, box.z, box.pitch, box.slice_pitch);
}

}  // namespace

void run_operation(Memory& memory, const Operation& operation) {
  std::vector<std::uint8_t>& to = memory[operation.to.buffer];
  const std::vector<std::uint8_t>& from = memory[operation.from.buffer];
  switch (operation.kind) {
  case Kind::copy:
    std::memmove(to.data() + operation.to.offset, from.data() + operation.from.offset, operation.bytes);
    break;
  case Kind::fill:
    for (std::uint64_t i = 0; i < operation.bytes; ++i) {
      to[operation.to.offset + i] = operation.value[i % operation.value.size()];
    }
    break;
  case Kind::copy_region:
    copy_box(to, from, operation);
    break;
  case Kind::barrier:
    break;
  }
}

Memory initial_memory(const Program& program) {
  Memory memory;
  for (unsigned buffer = 0; buffer < program.buffers.size(); ++buffer) {
    memory.push_back(initial_bytes(program, buffer));
  }
  return memory;
}

std::optional<Difference> first_difference(const Memory& expected, const Memory& found) {
  for (unsigned buffer = 0; buffer < expected.size(); ++buffer) {
    const auto [one, other] =
        std::mismatch(expected[buffer].begin(), expected[buffer].end(), found[buffer].begin());
    if (one != expected[buffer].end()) {
      return Difference{{buffer, static_cast<std::uint64_t>(one - expected[buffer].begin())}, *one, *other};
    }
  }
  return std::nullopt;
}

Memory run_on_host(const Program& program) {
  Memory memory = initial_memory(program);
  for (const Operation& operation : program.operations) {
    run_operation(memory, operation);
  }
  return memory;
}

std::string describe(const Program& program, unsigned index) {
  const Operation& operation = program.operations[index];
  std::string text =
      fmt::format("{:3} queue {}{}{}: ", index, operation.queue, operation.starts_list ? " new list" : "",
                  operation.barrier_before ? " barrier" : "");
  switch (operation.kind) {
  case Kind::copy:
    text +=
        fmt::format("copy {} bytes from buffer {} + {} to buffer {} + {}", operation.bytes,
                    operation.from.buffer, operation.from.offset, operation.to.buffer, operation.to.offset);
    break;
  case Kind::fill:
    text += fmt::format("fill {} bytes of buffer {} + {} with a pattern of {}", operation.bytes,
                        operation.to.buffer, operation.to.offset, operation.value.size());
    break;
  case Kind::copy_region:
    text +=
        fmt::format("copy a box of {} x {} x {} from {} to {}", operation.extent.width,
                    operation.extent.height, operation.extent.depth,
                    box_text(operation.from, operation.from_box), box_text(operation.to, operation.to_box));
    break;
  case Kind::barrier:
    text += "barrier";
    break;
  }
  for (const unsigned earlier : operation.waits) {
    text += fmt::format(", after {}", earlier);
  }
  return text + (operation.gated ? ", after the host" : "") + (operation.signals ? ", signals" : "");
}

std::string describe(const Program& program) {
  std::string text = fmt::format("seed {}, {} queues\n", program.seed, program.queues.size());
  for (unsigned buffer = 0; buffer < program.buffers.size(); ++buffer) {
    text += fmt::format("buffer {}: {} bytes of {} memory\n", buffer, program.buffers[buffer].size_bytes,
                        name_of(program.buffers[buffer].place));
  }
  for (unsigned index = 0; index < program.operations.size(); ++index) {
    text += describe(program, index) + "\n";
  }
  return text;
}

}  // namespace datum::cosim
