// The rings of a board that queues may use.
#pragma once

#include <memory>
#include <vector>

#include <datum/base/result.hpp>

#include "driver/command/lent_ring.hpp"

namespace datum {

class Device;

/// Rings 1 .. ring_count-1; their memory is made at first use. Guarded by the scheduler's lock.
class RingPool {
 public:
  /// A ring's memory in `device`'s arena; out_of_host_memory.
  static Result<std::unique_ptr<LentRing>> make_ring(Device& device, unsigned index, unsigned size_log2);
  static void free_memory(Device& device, const LentRing& ring);

  explicit RingPool(Device& device);
  RingPool(const RingPool&) = delete;
  RingPool& operator=(const RingPool&) = delete;
  ~RingPool();

  /// At least one ring must be usable for queues to work at all: makes the first one.
  Status make_first();

  /// Rings that nobody has work in.
  [[nodiscard]] unsigned available() const noexcept;
  /// Of the available rings, this many are kept for work that cannot park.
  [[nodiscard]] unsigned reserve() const noexcept;
  /// A ring without work for `stream`, preferably one that already serves its space; null: none. The former
  /// owner loses it.
  LentRing* take(Stream& stream);

  /// Every ring made so far.
  [[nodiscard]] const std::vector<std::unique_ptr<LentRing>>& made() const noexcept { return rings_; }

 private:
  [[nodiscard]] static bool is_free(const LentRing& ring) noexcept;

  Device& device_;
  std::vector<std::unique_ptr<LentRing>> rings_;
  unsigned usable_;  ///< rings that exist or can still be made
};

}  // namespace datum
