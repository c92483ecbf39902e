// Every live allocation by address: what a pointer is, in nanoseconds, from any thread.
#pragma once

#include <cstdint>
#include <memory>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>

namespace datum {

class Context;
class Device;

enum class AllocationKind : std::uint8_t { device, host, shared, host_imported, virtual_reservation };

/// One allocation. Constant while it is registered, but for what its owner guards with a lock of its own.
struct Allocation {
  AllocationKind kind = AllocationKind::device;
  std::uint64_t id = 0;            ///< never repeats in the process
  std::uintptr_t base = 0;         ///< first byte, the pointer that the application got
  std::uint64_t size_bytes = 0;    ///< as requested
  std::uint64_t span_bytes = 0;    ///< as occupied: a multiple of page_bytes
  std::uint64_t page_bytes = 0;
  Context* context = nullptr;
  Device* device = nullptr;        ///< null for host allocations and shared ones without a device
  std::uint32_t ordinal = 0;
  bool read_only_for_device = false;
};

/// Ranges never overlap. Readers are wait-free and see either the whole of an insertion or nothing of it; writers lock inside.
/// An Allocation stays readable for readers that found it while it is erased (its memory is reclaimed later).
class Registry {
 public:
  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// invalid_argument: overlaps a live range. out_of_host_memory.
  Status insert(std::unique_ptr<Allocation> allocation);
  /// Takes the allocation out whose first byte is `base`; null: none.
  std::unique_ptr<Allocation> erase(std::uintptr_t base);
  /// The allocation that covers `address`, by its occupied span; null: none.
  [[nodiscard]] const Allocation* find(std::uintptr_t address) const noexcept;

 private:
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

}  // namespace datum
