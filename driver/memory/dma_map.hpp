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
  Result<Iova> map(std::span<std::byte> host, board::DmaAccess access);
  /// The same for memory that is bytes 0 to host.size() of `file`, a memfd that cannot shrink; a backend that
  /// takes files gets that, and moves bytes without asking the kernel for each.
  Result<Iova> map_file(std::span<std::byte> host, int file, board::DmaAccess access);
  /// `bytes` of a descriptor of a kind that the board imports, from `offset` on; it may be closed afterwards.
  /// unsupported_feature: the board imports none, or only pieces of more than 4 KiB and this is none.
  Result<Iova> map_descriptor(int fd, std::uint64_t bytes, board::DmaAccess access, std::uint64_t offset = 0);
  /// Of map, whole. When it returns the board cannot reach the memory.
  void unmap(Iova iova, std::uint64_t bytes) noexcept;

  [[nodiscard]] std::uint64_t granule_bytes() const noexcept { return iovas_.granule_bytes(); }

  [[nodiscard]] const std::string& board_address() const noexcept { return function_.info().address; }

 private:
  Result<Iova> finish(Iova iova, std::uint64_t bytes, Status mapped);

  board::PcieFunction& function_;
  IovaAllocator iovas_;
};

}  // namespace datum
