#include "tools/datum/memory_runs.hpp"

#include <algorithm>

#include <fmt/format.h>

#include "tools/datum/page_walk.hpp"

namespace datum::tool {

namespace {

constexpr std::uint64_t most_at_once = 1ULL << 20U;

void append(std::vector<board::DeviceRange>& runs, DeviceAddress at, std::uint64_t bytes) {
  if (!runs.empty() && runs.back().first + runs.back().bytes == at) {
    runs.back().bytes += bytes;
  } else {
    runs.push_back({at, bytes});
  }
}

/// Calls `move` with pieces of at most most_at_once bytes.
template <class Move>
Status in_pieces(std::span<const board::DeviceRange> runs, const Move& move) {
  std::vector<std::byte> buffer;
  for (const board::DeviceRange& run : runs) {
    for (std::uint64_t done = 0; done < run.bytes;) {
      const std::uint64_t bytes = std::min(run.bytes - done, most_at_once);
      buffer.resize(static_cast<std::size_t>(bytes));
      if (Status moved = move(run.first + done, std::span(buffer)); !moved) {
        return moved;
      }
      done += bytes;
    }
  }
  return {};
}

}  // namespace

Result<std::vector<board::DeviceRange>> find_runs(OpenBoard& board, DeviceMemory& memory,
                                                  const MemoryPlace& place, std::uint64_t bytes) {
  std::vector<board::DeviceRange> runs;
  if (!place.space) {
    const std::uint64_t size = memory.size_bytes(place.ordinal);
    if (place.address > size || bytes > size - place.address) {
      return make_error(ErrorCode::invalid_argument,
                        fmt::format("{} bytes at {:#x} do not lie in memory {}, which has {} bytes", bytes,
                                    place.address, place.ordinal, size));
    }
    append(runs, {place.address, place.ordinal}, bytes);
    return runs;
  }
  for (std::uint64_t done = 0; done < bytes;) {
    const std::uint64_t va = place.address + done;
    const Result<WalkEnd> end = walk(board, memory, *place.space, DeviceVa{va});
    if (!end) {
      return end.error();
    }
    if (end->host) {
      return make_error(
          ErrorCode::address_not_found,
          fmt::format("{:#x} in space {} is host memory (IOVA {:#x})", va, *place.space, raw(end->iova)),
          "look at it in the application, with a debugger");
    }
    const std::uint64_t piece = std::min(end->bytes, bytes - done);
    append(runs, end->device, piece);
    done += piece;
  }
  return runs;
}

Status read_runs(DeviceMemory& memory, std::span<const board::DeviceRange> runs,
                 const std::function<Status(std::span<const std::byte>)>& take) {
  return in_pieces(runs, [&](DeviceAddress at, std::span<std::byte> buffer) {
    Status got = memory.read(at, buffer);
    return got ? take(buffer) : got;
  });
}

Status write_runs(DeviceMemory& memory, std::span<const board::DeviceRange> runs,
                  const std::function<Status(std::span<std::byte>)>& give) {
  return in_pieces(runs, [&](DeviceAddress at, std::span<std::byte> buffer) {
    Status got = give(buffer);
    return got ? memory.write(at, buffer) : got;
  });
}

}  // namespace datum::tool
