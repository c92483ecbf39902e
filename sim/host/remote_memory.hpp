// Host memory that a board cannot reach by itself: somebody has to be asked for each access.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>

namespace datum::sim {

/// Called under the board's turn, so nothing here waits: an access that is not answered yet is *pending*, and
/// the same one is made again later, with the same requester, address and size, until it is not.
class RemoteMemory {
 public:
  enum class Answer : std::uint8_t { pending, done, refused };

  /// Most bytes of one access.
  static constexpr std::size_t most_bytes = 64UL * 1024;

  RemoteMemory() = default;
  RemoteMemory(const RemoteMemory&) = delete;
  RemoteMemory& operator=(const RemoteMemory&) = delete;
  virtual ~RemoteMemory() = default;

  /// Each requester has one read and one write under way at most; another one in its place gives the first
  /// up.
  virtual Answer read(unsigned requester, std::uint64_t iova, std::span<std::byte> to) = 0;
  virtual Answer write(unsigned requester, std::uint64_t iova, std::span<const std::byte> from) = 0;
  /// Nobody wants the answers of `requester`'s accesses any more: the next one is asked for anew, once those
  /// under way are answered.
  virtual void forget(unsigned requester) = 0;
  /// Whether an access of `requester` is not answered yet.
  [[nodiscard]] virtual bool busy(unsigned requester) const = 0;
};

}  // namespace datum::sim
