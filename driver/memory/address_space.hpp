// One address space of one board: the page tables of a context on a device.
#pragma once

#include <cstdint>
#include <memory>
#include <mutex>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>

namespace datum {

class Board;
class DeviceHeap;

struct PageTarget {
  bool host = false;             ///< true: `iova`, false: `device`
  Iova iova{};
  DeviceAddress device{};
};

struct PageRights {
  bool writable = true;
  std::uint8_t cache_policy = 0;
};

/// Tables are kept in host memory (the shadow) and in the fixed aperture's part of device memory. Changes are collected and brought to the board by
/// commit(). Thread safe.
class AddressSpace {
 public:
  static Result<std::unique_ptr<AddressSpace>> create(Board& board, DeviceHeap& heap);
  /// Clears the root, invalidates, returns the table pages.
  ~AddressSpace();

  [[nodiscard]] unsigned number() const noexcept;

  /// [va, va+bytes) -> target, linear; 4 KiB granule; uses the largest leaves that alignment and length allow. The range must not be mapped.
  /// No board access. out_of_device_memory: no table page.
  Status map(DeviceVa va, PageTarget target, std::uint64_t bytes, PageRights rights);
  /// Forgets the range. Returns whether the board may have seen it (then an invalidation is owed: see commit and unmap_now).
  bool unmap(DeviceVa va, std::uint64_t bytes);
  /// unmap, and returns only when the board can no longer use it.
  Status unmap_now(DeviceVa va, std::uint64_t bytes);

  /// Brings collected changes and owed invalidations to the board. To be called before every doorbell whose commands use the space.
  /// Returns at once when there is nothing new.
  Status commit();

 private:
  AddressSpace();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace datum
