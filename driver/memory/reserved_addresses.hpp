// A range of virtual addresses that the application reserved: nothing else of the process gets one of them.
#pragma once

#include <cstdint>
#include <memory>

#include <datum/base/result.hpp>

#include "driver/memory/address_window.hpp"

namespace datum {

/// Given back by the destructor, whatever was mapped there.
class ReservedAddresses {
 public:
  /// Larger ranges would not fit a process.
  static constexpr std::uint64_t most_bytes = 1ULL << 47U;

  /// `bytes` is a multiple of 4 KiB up to most_bytes; 2 MiB aligned from 2 MiB on. At `wanted`, which is 0 or
  /// 4 KiB aligned, if nobody has any of it, else anywhere. Costs no memory whatever the size. `window`
  /// outlives the range. out_of_host_memory: the process has no such range left.
  static Result<std::shared_ptr<ReservedAddresses>> reserve(AddressWindow& window, std::uintptr_t wanted,
                                                            std::uint64_t bytes);
  ~ReservedAddresses();
  ReservedAddresses(const ReservedAddresses&) = delete;
  ReservedAddresses& operator=(const ReservedAddresses&) = delete;

  [[nodiscard]] std::uintptr_t base() const noexcept { return range_.base; }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return range_.bytes; }

 private:
  ReservedAddresses() = default;

  AddressWindow* window_ = nullptr;  ///< null: a reservation of its own with the kernel
  AddressRange range_{};
};

}  // namespace datum
