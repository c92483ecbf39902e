// The device that a sweep works on, through the loader as any program does: a context and a list that runs at
// once.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <utility>

#include <level_zero/ze_api.h>

#include <datum/base/result.hpp>

#include "tools/datum/loader.hpp"

namespace datum::tool {

/// What a sweep calls, beside the functions of Loader.
struct WorkFunctions {
  decltype(&::zeContextCreate) context_create = nullptr;
  decltype(&::zeContextDestroy) context_destroy = nullptr;
  decltype(&::zeMemAllocDevice) allocate_device = nullptr;
  decltype(&::zeMemAllocHost) allocate_host = nullptr;
  decltype(&::zeMemAllocShared) allocate_shared = nullptr;
  decltype(&::zeMemFree) free = nullptr;
  decltype(&::zeCommandListCreateImmediate) create_list = nullptr;
  decltype(&::zeCommandListDestroy) destroy_list = nullptr;
  decltype(&::zeCommandListAppendMemoryCopy) copy = nullptr;
  decltype(&::zeCommandListAppendMemoryFill) fill = nullptr;
  decltype(&::zeDriverGetLastErrorDescription) last_error = nullptr;  ///< may be null
};

enum class MemoryPlace : std::uint8_t { device, host, shared };

/// Not thread safe. What it allocates does not outlive it.
class BenchDevice {
 public:
  /// Frees its memory when it ends.
  class Memory {
   public:
    Memory() noexcept = default;

    Memory(BenchDevice& device, void* pointer) noexcept : device_(&device), pointer_(pointer) {}

    Memory(Memory&& other) noexcept
        : device_(other.device_), pointer_(std::exchange(other.pointer_, nullptr)) {}

    Memory& operator=(Memory&& other) noexcept {
      std::swap(device_, other.device_);
      std::swap(pointer_, other.pointer_);
      return *this;
    }

    Memory(const Memory&) = delete;
    Memory& operator=(const Memory&) = delete;

    ~Memory() {
      if (pointer_ != nullptr) {
        static_cast<void>(device_->free(pointer_));
      }
    }

    [[nodiscard]] void* get() const noexcept { return pointer_; }

   private:
    BenchDevice* device_ = nullptr;
    void* pointer_ = nullptr;
  };

  /// The first device of Datum's driver. Once in a process. Errors of open_loader and find_driver, and what
  /// the driver says.
  static Result<std::unique_ptr<BenchDevice>> open();
  ~BenchDevice();
  BenchDevice(const BenchDevice&) = delete;
  BenchDevice& operator=(const BenchDevice&) = delete;

  [[nodiscard]] const std::string& name() const noexcept { return name_; }

  [[nodiscard]] std::uint64_t largest_allocation_bytes() const noexcept { return largest_allocation_bytes_; }

  [[nodiscard]] Result<Memory> memory(MemoryPlace place, std::size_t bytes);
  // What is measured: nothing around the calls. `pointer` is to be given back by free().
  [[nodiscard]] Status allocate(MemoryPlace place, std::size_t bytes, void** pointer);
  /// `memory` and `bytes` are whole pages of the process.
  [[nodiscard]] Status import(void* memory, std::size_t bytes);
  [[nodiscard]] Status free(void* pointer);
  /// Returns when the bytes are there.
  [[nodiscard]] Status copy(void* target, const void* source, std::size_t bytes);
  [[nodiscard]] Status fill(void* target, std::size_t bytes);

 private:
  BenchDevice() = default;
  Status start(const Loader& loader);
  [[nodiscard]] Status check(ze_result_t result, const char* call, std::size_t bytes) const;

  WorkFunctions call_;
  ze_driver_handle_t driver_ = nullptr;
  ze_device_handle_t device_ = nullptr;
  ze_context_handle_t context_ = nullptr;
  ze_command_list_handle_t list_ = nullptr;
  std::string name_;
  std::uint64_t largest_allocation_bytes_ = 0;
};

}  // namespace datum::tool
