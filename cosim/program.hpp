// A random program: memory, queues, and operations on them whose result does not depend on how they overlap
// in time.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

namespace datum::cosim {

/// Where a buffer lives. `system` is memory of the C library.
enum class Place : std::uint8_t { device, onchip, host, shared, system };

struct Buffer {
  Place place = Place::device;
  std::uint64_t size_bytes = 0;
};

/// A box of bytes in a buffer, as ze_copy_region_t with its pitches has it. `depth` 0 is a rectangle.
struct Box {
  std::uint32_t x = 0;
  std::uint32_t y = 0;
  std::uint32_t z = 0;
  std::uint32_t pitch = 0;
  std::uint32_t slice_pitch = 0;
};

struct Extent {
  std::uint32_t width = 0;
  std::uint32_t height = 0;
  std::uint32_t depth = 0;
};

enum class Kind : std::uint8_t { copy, fill, copy_region, barrier };

/// Which buffer, and from which byte on.
struct Spot {
  unsigned buffer = 0;
  std::uint64_t offset = 0;
};

struct Operation {
  Kind kind = Kind::copy;
  unsigned queue = 0;
  bool starts_list = false;     ///< the first of a new command list of its queue
  bool barrier_before = false;  ///< a barrier stands between it and all earlier ones of its queue
  bool signals = false;         ///< has an event
  std::vector<unsigned> waits;  ///< operations of other queues whose events it waits for
  bool gated = false;           ///< waits for an event that the host signals after everything was submitted

  Spot to;
  Spot from;                        ///< copy, copy_region
  std::uint64_t bytes = 0;          ///< copy, fill
  std::vector<std::uint8_t> value;  ///< fill: the pattern
  Box to_box;                       ///< copy_region
  Box from_box;
  Extent extent;
};

enum class QueueKind : std::uint8_t { lists, in_order_lists, immediate };

struct Program {
  std::uint64_t seed = 0;
  std::vector<Buffer> buffers;
  std::vector<QueueKind> queues;
  std::vector<Operation> operations;  ///< in an order that satisfies every dependence
};

/// The program of a seed; always the same one. `limit` keeps the first operations only (0: all).
[[nodiscard]] Program make_program(std::uint64_t seed, unsigned limit = 0);

/// Whether all operations that touch a byte of which one is written are kept apart, as they are in every
/// program of make_program; a program that was made shorter may have lost that.
[[nodiscard]] bool is_ordered(const Program& program);

/// First bytes of a buffer before the program runs.
[[nodiscard]] std::vector<std::uint8_t> initial_bytes(const Program& program, unsigned buffer);

/// One line an operation, for people.
[[nodiscard]] std::string describe(const Program& program);
[[nodiscard]] std::string describe(const Program& program, unsigned operation);

/// What memory must hold in the end: the operations one after the other on the host. [buffer][byte]
using Memory = std::vector<std::vector<std::uint8_t>>;
[[nodiscard]] Memory run_on_host(const Program& program);
[[nodiscard]] Memory initial_memory(const Program& program);
/// One operation of it.
void run_operation(Memory& memory, const Operation& operation);

/// The first byte that differs.
struct Difference {
  Spot spot;
  std::uint8_t expected = 0;
  std::uint8_t found = 0;
};

[[nodiscard]] std::optional<Difference> first_difference(const Memory& expected, const Memory& found);

}  // namespace datum::cosim
