// A context: for each of its devices an address space; owner of its allocations.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <optional>
#include <span>
#include <vector>

#include <datum/base/address.hpp>
#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

#include "driver/memory/address_space.hpp"
#include "driver/memory/atomic_attributes.hpp"
#include "driver/memory/exported_file.hpp"
#include "driver/memory/host_memory.hpp"
#include "driver/memory/ipc_handle.hpp"
#include "driver/memory/memory_backing.hpp"
#include "driver/memory/page_books.hpp"
#include "driver/memory/registry.hpp"
#include "driver/object/handle_table.hpp"

namespace datum {

class Driver;
class Device;
class ExportedFile;
class IdleCounter;
class PhysicalMemory;
struct OpenedFile;
class PinCache;
class VirtualSpace;
enum class PageAccess : std::uint8_t;

/// Holds system memory (malloc, stack, file mappings) reachable for the board while it lives; releasing it
/// returns only when the board can no longer reach the memory. Movable; may be empty (nothing was needed).
/// Released before its context is destroyed.
class Pin {
 public:
  Pin() noexcept = default;

  Pin(PinCache* cache, std::uint64_t token) noexcept : cache_(cache), token_(token) {}

  Pin(Pin&& other) noexcept;
  Pin& operator=(Pin&& other) noexcept;
  Pin(const Pin&) = delete;
  Pin& operator=(const Pin&) = delete;
  ~Pin();

  [[nodiscard]] bool empty() const noexcept { return cache_ == nullptr; }

 private:
  void release() noexcept;

  PinCache* cache_ = nullptr;
  std::uint64_t token_ = 0;
};

/// Thread safe.
class Context {
 public:
  /// `devices` are of `driver`, each once, at least one. out_of_device_memory: no address space left.
  static Result<std::unique_ptr<Context>> create(Driver& driver, std::vector<Device*> devices);
  /// Queues, lists and pools of the context must be gone. Frees every allocation that is left.
  ~Context();
  Context(const Context&) = delete;
  Context& operator=(const Context&) = delete;

  [[nodiscard]] Driver& driver() noexcept { return driver_; }

  [[nodiscard]] const std::vector<Device*>& devices() const noexcept { return devices_; }

  [[nodiscard]] bool has(const Device& device) const noexcept;
  [[nodiscard]] AddressSpace& space(const Device& device) noexcept;  ///< `device` is one of devices()

  /// A board of the context is lost, or was reset under it. No board access.
  [[nodiscard]] bool is_lost() const noexcept;
  /// device_lost: a board of the context is lost, or was reset under it. No board access while all is well.
  Status alive();
  /// Board::life() of the device's board when the context was made: in a later life it is of no use.
  [[nodiscard]] std::uint64_t board_life(const Device& device) const noexcept;
  /// A board of the context was reset since the context was made.
  [[nodiscard]] bool outlived_by_board() const noexcept;
  /// Success, or device_lost: a board of the context is, or was reset since the context was made.
  Status health();
  [[nodiscard]] static Error lost_to_reset();

  [[nodiscard]] HandleSlot* handle() noexcept { return handle_; }

  /// Objects that need the context: it is not destroyed while there are any.
  void add_child() noexcept { children_.fetch_add(1, std::memory_order_relaxed); }

  void remove_child() noexcept { children_.fetch_sub(1, std::memory_order_release); }

  [[nodiscard]] bool has_children() const noexcept { return children_.load(std::memory_order_acquire) != 0; }

  /// `bytes` > 0; `alignment` 0 or a power of two up to AddressWindow::max_alignment_bytes; `ordinal` <
  /// device.memory_count(). No hardware is touched. out_of_device_memory, out_of_host_memory: nothing is
  /// taken then.
  Result<void*> allocate_device(Device& device, std::uint32_t ordinal, std::uint64_t bytes,
                                std::uint64_t alignment, std::uint8_t cache_policy = 0);
  /// Reachable for all devices of the context at its own address.
  Result<void*> allocate_host(std::uint64_t bytes, std::uint64_t alignment, PageRights rights = {});
  /// Lives in host memory. `device` may be null.
  Result<void*> allocate_shared(Device* device, std::uint64_t bytes, std::uint64_t alignment,
                                PageRights rights = {});
  /// Makes memory of the process an allocation of this context, at its own address and reachable for all its
  /// devices. `memory` and `bytes` > 0 are whole pages; the memory stays mapped until it is freed.
  /// invalid_argument: nothing is mapped there, or not with that access, or part of it is an allocation.
  /// out_of_host_memory: it cannot be pinned within the limits. not_available: see PinCache::pin_read_only.
  Result<void*> import_system_memory(void* memory, std::uint64_t bytes, PageRights rights = {});

  /// invalid_argument: `pointer` is not the first byte of a live allocation of this context. Commands in
  /// flight may still use the memory: it goes to nobody else before the board has forgotten it.
  Status free(void* pointer);
  /// The same, and commands in flight that use the memory end as if it were there: waits for them, and
  /// returns when the board has forgotten it.
  Status free_when_unused(void* pointer);
  /// The same without waiting: the pointer is no allocation any longer, the memory goes when the last of
  /// those commands has ended.
  Status free_after_use(void* pointer);
  /// The allocation of this context that `pointer` lies in, by its requested size. A few nanoseconds.
  [[nodiscard]] std::optional<Allocation> find(const void* pointer) const noexcept;

  /// Of shared allocations; forgotten when they are freed.
  [[nodiscard]] AtomicAttributes& atomic_attributes() noexcept { return atomic_attributes_; }

  // Sharing with other processes: driver/object/context_sharing.cpp.

  /// A handle of the allocation that begins at `pointer`; its first export moves it into a file of its own.
  /// invalid_argument: no first byte of a live device or host allocation of this context;
  /// unsupported_feature: the board cannot share that memory; out_of_host_memory.
  Result<IpcHandleBytes> export_allocation(const void* pointer);
  /// Memory behind `fd`, of which `file` was read; new addresses at each call. `size_bytes` is at most a page
  /// less than the file. The descriptor may be closed afterwards. `rights` are those of the boards.
  /// unsupported_feature: the board takes none; out_of_host_memory.
  Result<void*> import_file(Device& device, int fd, const SharedFileIdentity& file, std::uint64_t size_bytes,
                            PageRights rights = {});
  /// A handle of the [`pointer`, +`bytes`) that is mapped to physical memory objects of this context, any
  /// number of them, as it is mapped at this moment. address_not_found: nothing is mapped in a part of it;
  /// invalid_argument: part of it is an allocation; invalid_size: no bytes;
  /// unsupported_feature: the board cannot share that memory; out_of_host_memory.
  Result<IpcHandleBytes> export_range(const void* pointer, std::uint64_t bytes);
  /// What such a handle means, as one row of new addresses. `file` is that of the handle. invalid_argument:
  /// it is no list of parts, or a part cannot be had; else as import_file.
  Result<void*> import_range(Device& device, const OpenedFile& file, PageRights rights = {});
  /// The same as allocate: as host memory of all devices where `device` is null. `fd` is the application's,
  /// and stays so; it may be closed afterwards. invalid_argument: see open_external_file.
  Result<void*> import_external(Device* device, int fd, ExternalTypes types, std::uint64_t bytes,
                                std::uint64_t alignment, PageRights rights = {});
  /// What allocate gave, ready for ExportTable::descriptor by its id; where that fails it is freed.
  Result<void*> make_exportable(Result<void*> allocated, ExternalTypes types);
  /// A handle of a physical memory object of this context. invalid_argument: it is none, or is imported.
  Result<IpcHandleBytes> export_object(const PhysicalMemory& object);
  /// Returns when no board can reach the memory any longer through `pointer`, which import_file gave.
  /// invalid_argument: it did not, or the memory was closed before.
  Status close_imported(const void* pointer);

  /// The context through whose space commands of `device` in this context reach the memory at `pointer`: this
  /// one. Middleware for GPUs copies what the application allocated in a context of its own; in that attitude
  /// it is the memory's own, as long as that has the device.
  [[nodiscard]] Context& reaching(const Device& device, const void* pointer) noexcept;

  /// Makes [`pointer`, +`bytes`) usable by commands of `device` in this context. Memory of Datum's own is
  /// already so (empty Pin; a range that leaves its allocation, or memory that this context or this device
  /// may not use, is invalid_argument). System memory is pinned. out_of_host_memory: it cannot be pinned
  /// within the limits (the caller stages it then); invalid_argument: nothing is mapped there, or not with
  /// that access. `bytes` 0: nothing is needed.
  Result<Pin> make_accessible(Device& device, const void* pointer, std::uint64_t bytes,
                              board::DmaAccess access);

  /// Reservations, physical memory objects and mappings of the context; see the functions below for what may
  /// need memory back from the boards first.
  [[nodiscard]] VirtualSpace& virtual_space() noexcept { return *virtual_space_; }

  /// What handles of counter-based events name that nothing has signalled yet.
  [[nodiscard]] IdleCounter& idle_counter() noexcept { return *idle_counter_; }

  /// VirtualSpace::reserve.
  Result<void*> reserve_virtual(const void* wanted, std::uint64_t bytes);
  /// A multiple of 4 KiB of memory of `device`, or of host memory if it is null. Its handle() is registered.
  Result<PhysicalMemory*> create_physical(Device* device, std::uint64_t bytes);
  /// The same of the bytes behind a descriptor: see import_external.
  Result<PhysicalMemory*> import_physical(Device* device, int fd, ExternalTypes types, std::uint64_t bytes);
  /// What create_physical gave, ready for ExportTable::descriptor; where that fails it is destroyed.
  Result<PhysicalMemory*> make_exportable(Result<PhysicalMemory*> created, ExternalTypes types);
  /// VirtualSpace::remove_object; the handle is stale then.
  Status destroy_physical(const PhysicalMemory& object);
  /// VirtualSpace::map, unmap and set_access.
  Status map_virtual(void* pointer, std::uint64_t bytes, const PhysicalMemory& object, std::uint64_t offset,
                     PageAccess access);
  Status unmap_virtual(void* pointer, std::uint64_t bytes);
  Status set_virtual_access(void* pointer, std::uint64_t bytes, PageAccess access);

  /// Maps a block of `device`'s arena in the space at its host address. The block is made of whole pages (4
  /// KiB or more), else invalid_argument.
  Status map_block(Device& device, const HostBlock& block, PageRights rights);
  /// Returns when the board can no longer reach the block through the space.
  Status unmap_block(Device& device, const HostBlock& block);

 private:
  Context(Driver& driver, std::vector<Device*> devices);
  Status build();
  [[nodiscard]] std::size_t index_of(const Device& device) const noexcept;
  Result<void*> publish(std::shared_ptr<MemoryBacking> backing, Allocation allocation, std::uint64_t bytes);
  Result<void*> register_listed(MemoryBacking& backing, Allocation allocation, std::uint64_t bytes);
  Result<void*> reuse_page(const PageKind& kind, Allocation allocation, std::uint64_t bytes);
  Status map_page(MemoryBacking& page, const PageKind& kind);
  void unlist(MemoryBacking& backing);
  Status map_device(Device& device, MemoryBacking& backing, PageRights rights);
  Status map_host(MemoryBacking& backing, std::uint64_t bytes, PageRights rights);
  Result<void*> allocate_in_host(AllocationKind type, Device* device, std::uint64_t bytes,
                                 std::uint64_t alignment, PageRights rights);
  Result<std::shared_ptr<MemoryBacking>> take_host_pages(std::uint64_t bytes, std::uint64_t alignment);
  bool forget(MemoryBacking& backing, const Allocation& allocation, bool retire);
  void build_virtual_space();
  void end_virtual_space();
  void drain_quarantines();
  void end_sharing(MemoryBacking& backing, const Allocation& allocation) noexcept;
  Result<std::shared_ptr<MemoryBacking>> take_for_sharing(const Allocation& allocation);
  Result<IpcHandleBytes> handle_of(const Result<std::uint64_t>& id);
  Result<std::uint64_t> share(const Allocation& allocation);
  Result<std::uint64_t> share_object(const PhysicalMemory& named);
  Result<IpcHandleBytes> export_mapped(const void* pointer);
  Result<PhysicalMemory*> register_object(Result<std::shared_ptr<PhysicalMemory>> object);
  Result<void*> map_parts(std::unique_ptr<ImportedMemory> memory, std::span<Device* const> users,
                          Allocation allocation);
  Result<void*> map_shared_file(Device& device, int fd, std::uint64_t bytes, Allocation allocation,
                                std::uint64_t alignment);
  Result<void*> map_range(Device& device, const OpenedFile& file, PageRights rights);
  [[nodiscard]] std::uint64_t granule_bytes() const noexcept;
  Status show_to_peer(Device& user, const Allocation& allocation);
  Result<std::unique_ptr<ExportedFile>> export_device(MemoryBacking& backing, const Allocation& allocation);
  Result<std::unique_ptr<ExportedFile>> export_pages(MemoryBacking& backing, Device& device,
                                                     std::uint32_t ordinal, std::uint64_t size_bytes);
  Result<std::unique_ptr<ExportedFile>> export_host(MemoryBacking& backing, const Allocation& allocation);
  Status move_device(MemoryBacking& backing, Device& device, std::uint32_t ordinal);
  Result<std::unique_ptr<ExportedFile>> export_host_pages(MemoryBacking& backing,
                                                          const Allocation& allocation);
  Status move_host(MemoryBacking& backing, const Allocation& allocation);
  Status settle_host(MemoryBacking& backing, const Allocation& allocation);
  void list_export(MemoryBacking& backing, std::uint64_t id, std::unique_ptr<ExportedFile> file);
  Status map_imported(Device& device, const Allocation& allocation, const ImportedMemory& memory);
  struct FreedInUse;
  [[nodiscard]] std::optional<Allocation> erase(const void* pointer);
  void give_back(const Allocation& allocation);
  void ask_boards() noexcept;
  void free_made(void* pointer) noexcept;

  Driver& driver_;
  std::uint32_t id_ = 0;
  std::vector<Device*> devices_;
  std::vector<std::unique_ptr<AddressSpace>> spaces_;  ///< as devices_
  std::vector<std::uint64_t> board_lives_;             ///< as devices_
  std::vector<std::unique_ptr<PinCache>> pins_;        ///< as devices_
  std::unique_ptr<VirtualSpace> virtual_space_;
  std::atomic<std::uint64_t> children_{0};
  Mutex sharing_mutex_;  ///< one first export at a time; before the lock of books_; boards are waited for
  PageBooks books_;
  AtomicAttributes atomic_attributes_;
  std::unique_ptr<IdleCounter> idle_counter_;
  HandleSlot* handle_ = nullptr;
};

}  // namespace datum
