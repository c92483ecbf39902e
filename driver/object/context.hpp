// A context: for each of its devices an address space; owner of its allocations.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

#include "driver/memory/address_space.hpp"
#include "driver/memory/host_memory.hpp"
#include "driver/memory/registry.hpp"
#include "driver/object/handle_table.hpp"

namespace datum {

class Driver;
class Device;
class PinCache;

/// Holds system memory (malloc, stack, file mappings) reachable for the board while it lives; releasing it returns only when the board can no
/// longer reach the memory. Movable; may be empty (nothing was needed).
class Pin {
 public:
  Pin() noexcept = default;
  Pin(PinCache* cache, std::uint64_t token) noexcept : cache_(cache), token_(token) {}
  Pin(Pin&& other) noexcept;
  Pin& operator=(Pin&& other) noexcept;
  ~Pin();
  [[nodiscard]] bool empty() const noexcept { return cache_ == nullptr; }

 private:
  PinCache* cache_ = nullptr;
  std::uint64_t token_ = 0;
};

/// Thread safe.
class Context {
 public:
  static Result<std::unique_ptr<Context>> create(Driver& driver, std::vector<Device*> devices);
  ~Context();

  [[nodiscard]] Driver& driver() noexcept { return driver_; }
  [[nodiscard]] const std::vector<Device*>& devices() const noexcept { return devices_; }
  [[nodiscard]] bool has(const Device& device) const noexcept;
  [[nodiscard]] AddressSpace& space(const Device& device) noexcept;  ///< `device` is one of devices()

  /// Makes [`pointer`, +`bytes`) usable by commands of `device` in this context. Memory of Datum's own is already so (empty Pin; a range that leaves its allocation
  /// is invalid_argument). System memory is pinned. out_of_host_memory: it cannot be pinned within the limits (the caller stages it then);
  /// invalid_argument: nothing is mapped there, or not with that access.
  Result<Pin> make_accessible(Device& device, const void* pointer, std::uint64_t bytes, board::DmaAccess access);

  /// Maps a block of `device`'s arena in the space at its host address.
  Status map_block(Device& device, const HostBlock& block, PageRights rights);
  Status unmap_block(Device& device, const HostBlock& block);

  [[nodiscard]] HandleSlot* handle() noexcept { return handle_; }

 private:
  Context(Driver& driver, std::vector<Device*> devices);

  Driver& driver_;
  std::vector<Device*> devices_;
  std::vector<std::unique_ptr<AddressSpace>> spaces_;
  std::unique_ptr<PinCache> pins_;
  HandleSlot* handle_ = nullptr;
};

}  // namespace datum
