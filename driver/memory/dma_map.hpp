// Host memory made visible to one board: the address is chosen here, the mapping is the backend's.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

#include "driver/memory/iova_allocator.hpp"

namespace datum {

/// Thread safe. `function` outlives it.
class DmaMap {
 public:
  explicit DmaMap(board::PcieFunction& function)
      : function_(function), iovas_(function.limits().iova_ranges, function.limits().granule_bytes) {}

  /// `host` is aligned to granule_bytes() at both ends, stays mapped until unmap and may be mapped any number
  /// of times. out_of_host_memory: with the limit and the cure; insufficient_permissions: the memory cannot
  /// be accessed that way.
  Result<Iova> map(std::span<std::byte> host, board::DmaAccess access) { return map(host, access, -1); }

  /// The same for memory that is a memfd from its offset 0 on; `fd` -1: it is not, or nobody knows it any
  /// more. The descriptor may be closed afterwards.
  Result<Iova> map(std::span<std::byte> host, board::DmaAccess access, int fd);
  /// Of map, whole. When it returns the board cannot reach the memory.
  void unmap(Iova iova, std::uint64_t bytes) noexcept;

  [[nodiscard]] std::uint64_t granule_bytes() const noexcept { return iovas_.granule_bytes(); }

  [[nodiscard]] const std::string& board_address() const noexcept { return function_.info().address; }

 private:
  board::PcieFunction& function_;
  IovaAllocator iovas_;
};

}  // namespace datum
