// A physical memory object of the API: pages without an address, which virtual addresses are mapped to.
#pragma once

#include <cstdint>
#include <functional>
#include <memory>
#include <span>

#include <datum/base/result.hpp>

#include "driver/memory/address_space.hpp"
#include "driver/memory/host_pool.hpp"
#include "driver/memory/memory_backing.hpp"

namespace datum {

class Device;
class DmaMap;
struct HandleSlot;

/// Constant once made; whoever maps it keeps it alive. The destructor gives the pages back: no board may be
/// able to reach them any longer.
class PhysicalMemory {
 public:
  /// `bytes` > 0 is a multiple of 4 KiB, `id` never repeats in the process.
  struct Shape {
    std::uint64_t bytes = 0;
    std::uint64_t id = 0;
  };

  /// Pages of `heap`, the memory of `device`. What other contexts left in them is for the owner to clear.
  /// out_of_device_memory.
  static Result<std::shared_ptr<PhysicalMemory>> on_device(AddressWindow& window, Device& device,
                                                           DeviceHeap& heap, Shape shape);
  /// A file of its own, reachable for the board of each of `maps`. Contents are zero. out_of_host_memory,
  /// with the limit and the cure.
  static Result<std::shared_ptr<PhysicalMemory>> in_host(AddressWindow& window, std::span<DmaMap* const> maps,
                                                         Shape shape);
  /// The first bytes of a shared file, which stands for memory of `device`; shown to the board of each of
  /// `maps`. out_of_host_memory, unsupported_feature: a board takes no descriptors.
  static Result<std::shared_ptr<PhysicalMemory>>
  of_device_file(AddressWindow& window, Device& device, std::span<DmaMap* const> maps, int fd, Shape shape);
  /// The first bytes of a file of host memory, reachable as in_host.
  static Result<std::shared_ptr<PhysicalMemory>>
  of_host_file(AddressWindow& window, std::span<DmaMap* const> maps, UniqueFd file, Shape shape);
  ~PhysicalMemory() = default;
  PhysicalMemory(const PhysicalMemory&) = delete;
  PhysicalMemory& operator=(const PhysicalMemory&) = delete;

  [[nodiscard]] std::uint64_t bytes() const noexcept { return shape_.bytes; }

  [[nodiscard]] std::uint64_t id() const noexcept { return shape_.id; }

  [[nodiscard]] Device* device() const noexcept { return device_; }  ///< null: host memory

  /// The object is memory behind a descriptor that was imported.
  [[nodiscard]] bool imported() const noexcept { return imported_; }

  /// Pages of device()'s own memory: not host memory, and not imported.
  [[nodiscard]] bool has_own_pages() const noexcept { return device_ != nullptr && !imported_; }

  /// The pages, and an address in the window that stands for them but is mapped nowhere. device() != nullptr.
  [[nodiscard]] MemoryBacking& backing() const noexcept { return *backing_; }

  /// The file and where boards see it. device() == nullptr.
  [[nodiscard]] const HostPiece& host() const noexcept { return *host_; }

  /// The handle by which the application names the object; for its context to set.
  [[nodiscard]] HandleSlot* handle() const noexcept { return handle_; }

  void set_handle(HandleSlot* handle) noexcept { handle_ = handle; }

  using Visit = std::function<void(const PageTarget& target, std::uint64_t bytes)>;
  /// Calls visit for each linear part of [`offset`, +`bytes`), as the board of `map` sees it, in order.
  void for_each_part(const DmaMap& map, std::uint64_t offset, std::uint64_t bytes, const Visit& visit) const;

 protected:
  explicit PhysicalMemory(Shape shape) : shape_(shape) {}

 private:
  Shape shape_;
  Device* device_ = nullptr;
  HandleSlot* handle_ = nullptr;
  bool imported_ = false;
  std::shared_ptr<MemoryBacking> backing_;
  std::unique_ptr<HostPiece> host_;
};

}  // namespace datum
