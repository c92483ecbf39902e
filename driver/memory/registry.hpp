// Every live allocation by address: what a pointer is, in nanoseconds, from any thread.
#pragma once

#include <array>
#include <cstdint>
#include <memory>
#include <optional>
#include <type_traits>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>

#include "driver/memory/page_rights.hpp"

namespace datum {

class Context;
class Device;
class MemoryBacking;

enum class AllocationKind : std::uint8_t { device, host, shared, host_imported, virtual_reservation };

/// One allocation. Constant while it is registered. Small, because the registry keeps it in one cache line.
struct Allocation {
  std::uint64_t id = 0;          ///< never repeats in the process
  std::uintptr_t base = 0;       ///< first byte, the pointer that the application got
  std::uint64_t size_bytes = 0;  ///< as requested
  Context* context = nullptr;
  Device* device = nullptr;          ///< null for host allocations and shared ones without a device
  MemoryBacking* backing = nullptr;  ///< for whoever erased the allocation: what has to be given back
  std::uint16_t ordinal = 0;
  std::uint8_t page_shift = 12;  ///< of the smallest page in it
  AllocationKind kind = AllocationKind::device;
  PageRights rights{};                  ///< of the boards that see it
  bool application_mapped : 1 = false;  ///< a mapping made by the application (zeVirtualMemMap): no `backing`
  bool imported : 1 = false;            ///< opened from an IPC handle: closed, and not freed
  bool external : 1 = false;  ///< made from a descriptor of shared memory: freed, and not shared again

  /// Whole pages as occupied, from first_page() on, which is `base` unless it is `imported`: a range of
  /// mapped memory is shared from any byte on.
  [[nodiscard]] std::uint64_t span_bytes() const noexcept {
    return align_up(size_bytes + (base - first_page()), small_page_bytes);
  }

  [[nodiscard]] std::uintptr_t first_page() const noexcept { return align_down(base, small_page_bytes); }

  [[nodiscard]] std::uint64_t page_bytes() const noexcept { return std::uint64_t{1} << page_shift; }

  [[nodiscard]] bool covers(std::uintptr_t address) const noexcept { return address - base < size_bytes; }
};

static_assert(std::is_trivially_copyable_v<Allocation> && sizeof(Allocation) == 7 * sizeof(std::uint64_t));

/// Ranges never overlap. Readers are wait-free, take no lock and never touch memory that was given back to
/// the system; writers lock inside.
class Registry {
 public:
  Registry();
  ~Registry();
  Registry(const Registry&) = delete;
  Registry& operator=(const Registry&) = delete;

  /// invalid_argument: overlaps a live range, or is not made of whole pages below 2^47. out_of_host_memory.
  Status insert(const Allocation& allocation);
  /// Takes the allocation out whose first byte is `base` and whose context is `owner`; empty: none. Of
  /// several threads that try, one succeeds. Only one that is `imported`, or only one that is not.
  /// Reservations are no allocations: see erase_reservation.
  std::optional<Allocation> erase(std::uintptr_t base, const Context* owner, bool imported = false);
  /// The same for reservations of virtual addresses only.
  std::optional<Allocation> erase_reservation(std::uintptr_t base, const Context* owner);

  /// The allocation whose occupied span covers `address`, as it was at one moment; empty: none.
  [[nodiscard]] std::optional<Allocation> find(std::uintptr_t address) const noexcept;

 private:
  struct Impl;
  std::optional<Allocation> take_out(std::uintptr_t base, const Context* owner, bool reservation,
                                     bool imported);
  std::unique_ptr<Impl> impl_;
};

}  // namespace datum
