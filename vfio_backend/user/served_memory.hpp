// Host memory that the board of a server may reach.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include <datum/base/mapping.hpp>
#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

#include "vfio_backend/address_space.hpp"
#include "vfio_backend/mapping_table.hpp"
#include "vfio_backend/user/channel.hpp"

namespace datum::vfio_user {

/// The client's IOMMU: the rules of mapping, and the answers to accesses that come as messages, only within
/// what is mapped, only in the direction that was granted, and never with a signal where the application has
/// taken its memory away. Safe from any thread.
class ServedMemory {
 public:
  /// `max_locked_bytes` 0: no limit.
  ServedMemory(vfio::SpaceLimits limits, std::uint64_t max_locked_bytes);

  /// Claims [`iova`, + `memory`) for a mapping. `own` is what keeps the memory, where it is not the caller's.
  /// Errors as PcieFunction::dma_map.
  Status add(Iova iova, std::span<std::byte> memory, board::DmaAccess access, Mapping own);
  [[nodiscard]] bool has(Iova iova, std::uint64_t bytes);
  /// When it returns no access is under way. `has` is true.
  void remove(Iova iova);

  [[nodiscard]] Channel::DmaAnswer answer(const Message& message);

  std::vector<board::DmaFault> take_faults();

  [[nodiscard]] const vfio::SpaceLimits& limits() const noexcept { return limits_; }

 private:
  struct Entry {
    std::span<std::byte> memory;
    board::DmaAccess access = board::DmaAccess::read;
    Mapping own;
  };

  /// Room for one mapping more.
  [[nodiscard]] Status check_limits(std::uint64_t bytes) const DATUM_REQUIRES(mutex_);
  /// Moves bytes between `data` and memory. How many came through.
  std::uint64_t move(std::uint64_t iova, std::span<std::byte> data, board::DmaAccess access)
      DATUM_REQUIRES(mutex_);

  vfio::SpaceLimits limits_;
  std::uint64_t max_locked_bytes_;
  Mutex mutex_;
  vfio::MappingTable table_ DATUM_GUARDED_BY(mutex_);
  std::map<std::uint64_t, Entry> entries_ DATUM_GUARDED_BY(mutex_);  // by first IOVA
  std::uint64_t locked_bytes_ DATUM_GUARDED_BY(mutex_) = 0;
  std::vector<board::DmaFault> faults_ DATUM_GUARDED_BY(mutex_);
};

/// Faults every page in for the access, as pinning does. insufficient_permissions.
[[nodiscard]] Status populate(std::span<std::byte> memory, board::DmaAccess access);

}  // namespace datum::vfio_user
