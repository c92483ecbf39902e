// Allocations of a context: making them.
#include <algorithm>
#include <array>
#include <utility>

#include <fmt/format.h>

#include "driver/memory/address_window.hpp"
#include "driver/memory/device_heap.hpp"
#include "driver/memory/dma_map.hpp"
#include "driver/memory/rollback.hpp"
#include "driver/memory/system_memory.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"
#include "driver/object/second_chance.hpp"

namespace datum {
namespace {

constexpr std::uint8_t small_page_shift = 12;
constexpr std::uint8_t large_page_shift = 21;

std::uint8_t smallest_page_shift(const std::vector<PageRun>& runs) noexcept {
  const bool all_large = std::all_of(runs.begin(), runs.end(), [](const PageRun& run) {
    return is_aligned(run.first.offset_bytes | run.bytes, large_page_bytes);
  });
  return all_large ? large_page_shift : small_page_shift;
}

bool fits_a_page(std::uint64_t bytes, std::uint64_t alignment) noexcept {
  return bytes <= PageBooks::page_bytes && alignment <= PageBooks::page_bytes;
}

}  // namespace

Status Context::map_device(Device& device, MemoryBacking& backing, PageRights rights) {
  backing.make_room_to_retire(devices_.size());
  std::vector<PageRun> foreign = backing.heap().foreign_parts(backing.runs(), id_);
  if (!foreign.empty()) {
    backing.mark_foreign();
  }
  return space(device).map_runs(DeviceVa{backing.base()}, backing.runs(), rights, std::move(foreign));
}

Status Context::map_host(MemoryBacking& backing, std::uint64_t bytes, PageRights rights) {
  backing.make_room_to_retire(devices_.size());
  std::size_t index = 0;
  Rollback undo([&]() noexcept {
    while (index-- > 0) {
      spaces_[index]->unmap(DeviceVa{backing.base()}, bytes, backing.shared_from_this(),
                            backing.retirements());
    }
  });
  for (; index < devices_.size(); ++index) {
    PageTarget target;
    target.host = true;
    target.iova = backing.pages().iova(devices_[index]->dma());
    if (Status mapped = spaces_[index]->map(DeviceVa{backing.base()}, target, bytes, rights); !mapped.ok()) {
      return mapped;
    }
  }
  undo.dismiss();
  return {};
}

Result<void*> Context::publish(std::shared_ptr<MemoryBacking> backing, Allocation allocation,
                               std::uint64_t bytes) {
  MemoryBacking& listed = *backing;
  books_.add(std::move(backing));
  allocation.id = driver_.next_allocation_id();
  return register_listed(listed, allocation, bytes);
}

/// Of a backing that is in the list of live allocations, and leaves it again where that fails.
Result<void*> Context::register_listed(MemoryBacking& backing, Allocation allocation, std::uint64_t bytes) {
  allocation.base = backing.base();
  allocation.size_bytes = bytes;
  allocation.context = this;
  allocation.backing = &backing;
  Rollback undo([&]() noexcept {
    forget(backing, allocation, true);
    unlist(backing);
  });
  if (Status inserted = driver_.registry().insert(allocation); !inserted.ok()) {
    return std::move(inserted).error();
  }
  undo.dismiss();
  return reinterpret_cast<void*>(allocation.base);
}

/// What it occupied goes here, unless a space keeps it.
void Context::unlist(MemoryBacking& backing) { books_.remove(backing).reset(); }

/// An allocation of one page from what was freed before. Null: nothing is idle; it is to be made anew.
Result<void*> Context::reuse_page(const PageKind& kind, Allocation allocation, std::uint64_t bytes) {
  const auto [page, id] = books_.reuse(kind);
  if (page == nullptr) {
    return nullptr;
  }
  if (!page->is_mapped()) {
    page->set_mapped(books_.commits());
    if (Status mapped = map_page(*page, kind); !mapped.ok()) {
      unlist(*page);
      return std::move(mapped).error();
    }
  }
  allocation.id = id;
  return register_listed(*page, allocation, bytes);
}

Status Context::map_page(MemoryBacking& page, const PageKind& kind) {
  if (kind.board == PageKind::in_host) {
    return map_host(page, PageBooks::page_bytes, kind.rights);
  }
  PageTarget target;
  target.device = page.runs().front().first;
  return spaces_[kind.board]->map(DeviceVa{page.base()}, target, PageBooks::page_bytes, kind.rights);
}

Result<void*> Context::allocate_device(Device& device, std::uint32_t ordinal, std::uint64_t bytes,
                                       std::uint64_t alignment, std::uint8_t cache_policy) {
  Allocation allocation;
  allocation.kind = AllocationKind::device;
  allocation.device = &device;
  allocation.ordinal = static_cast<std::uint16_t>(ordinal);
  allocation.rights.cache_policy = cache_policy;
  const PageKind kind{static_cast<std::uint8_t>(index_of(device)),
                      static_cast<std::uint8_t>(ordinal),
                      {.cache_policy = cache_policy}};
  const bool one_page = fits_a_page(bytes, alignment);
  if (one_page) {
    if (Result<void*> reused = reuse_page(kind, allocation, bytes); reused.ok() && *reused) {
      return reused;
    }
  }
  DeviceHeap& heap = device.heap(ordinal);
  const auto attempt = [&]() -> Result<std::shared_ptr<MemoryBacking>> {
    Result<std::shared_ptr<MemoryBacking>> backing =
        MemoryBacking::take_device(driver_.window(), heap, bytes, alignment);
    if (backing.ok()) {
      if (one_page) {
        (*backing)->set_kind(kind);
      }
      (*backing)->set_mapped(books_.commits());
      if (Status mapped = map_device(device, **backing, kind.rights); !mapped.ok()) {
        return std::move(mapped).error();
      }
    }
    return backing;
  };
  Result<std::shared_ptr<MemoryBacking>> backing = attempt();
  if (!backing.ok() && bytes <= heap.usable_bytes()) {
    // What was freed may still wait for the board's word. If the board does not give it, the answer stays
    // what it was.
    static_cast<void>(device.drain_quarantine());
    backing = attempt();
  }
  if (!backing.ok()) {
    return std::move(backing).error();
  }
  allocation.page_shift = smallest_page_shift((*backing)->runs());
  return publish(std::move(*backing), allocation, bytes);
}

Result<std::shared_ptr<MemoryBacking>> Context::take_host_pages(std::uint64_t bytes,
                                                                std::uint64_t alignment) {
  std::array<DmaMap*, 8> few{};
  std::vector<DmaMap*> many;
  std::span<DmaMap*> maps(few.data(), std::min(devices_.size(), few.size()));
  if (devices_.size() > few.size()) {
    many.resize(devices_.size());
    maps = many;
  }
  std::transform(devices_.begin(), devices_.end(), maps.begin(),
                 [](Device* device) { return &device->dma(); });
  Result<std::shared_ptr<MemoryBacking>> backing =
      MemoryBacking::take_host(driver_.host_pool(), maps, bytes, alignment, id_);
  if (backing.ok()) {
    return backing;
  }
  drain_quarantines();
  return MemoryBacking::take_host(driver_.host_pool(), maps, bytes, alignment, id_);
}

Result<void*> Context::allocate_in_host(AllocationKind type, Device* device, std::uint64_t bytes,
                                        std::uint64_t alignment, PageRights rights) {
  Allocation allocation;
  allocation.kind = type;
  allocation.device = device;
  allocation.rights = rights;
  const PageKind kind{.rights = rights};
  const bool one_page = fits_a_page(bytes, alignment);
  if (one_page) {
    if (Result<void*> reused = reuse_page(kind, allocation, bytes); reused.ok() && *reused) {
      return reused;
    }
  }
  Result<std::shared_ptr<MemoryBacking>> backing = take_host_pages(bytes, alignment);
  if (!backing.ok()) {
    return std::move(backing).error();
  }
  if (one_page) {
    (*backing)->set_kind(kind);
  }
  (*backing)->set_mapped(books_.commits());
  if (Status mapped = map_host(**backing, align_up(bytes, small_page_bytes), rights); !mapped.ok()) {
    return std::move(mapped).error();
  }
  return publish(std::move(*backing), allocation, bytes);
}

Result<void*> Context::allocate_host(std::uint64_t bytes, std::uint64_t alignment, PageRights rights) {
  return allocate_in_host(AllocationKind::host, nullptr, bytes, alignment, rights);
}

Result<void*> Context::allocate_shared(Device* device, std::uint64_t bytes, std::uint64_t alignment,
                                       PageRights rights) {
  return allocate_in_host(AllocationKind::shared, device, bytes, alignment, rights);
}

Result<void*> Context::import_system_memory(void* memory, std::uint64_t bytes, PageRights rights) {
  const auto first = reinterpret_cast<std::uintptr_t>(memory);
  if (first + bytes < first || driver_.window().overlaps(first, bytes) || driver_.registry().find(first)) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("{} bytes at {:#x} are not system memory alone: part of them is memory of "
                                  "this driver, or imported already",
                                  bytes, first));
  }
  Result<std::shared_ptr<MemoryBacking>> backing = with_second_chance(
      [&] { return SystemMemory::take(pins_, memory, bytes, rights); }, [&] { drain_quarantines(); });
  if (!backing.ok()) {
    return std::move(backing).error();
  }
  Allocation allocation;
  allocation.kind = AllocationKind::host_imported;
  allocation.rights = rights;
  return publish(std::move(*backing), allocation, bytes);
}

/// Takes an allocation out of the spaces; whether a board may have seen it. With `retire` its backing stays
/// alive until every board that may know the pages has forgotten them.
bool Context::forget(MemoryBacking& backing, const Allocation& allocation, bool retire) {
  if (backing.pinned()) {
    return false;  // its pins take it out of the spaces
  }
  bool seen = false;
  for (std::size_t index = 0; index < devices_.size(); ++index) {
    const bool owns = devices_[index] == allocation.device;
    if (backing.on_device() && !owns && !backing.is_shared()) {
      continue;
    }
    const DeviceVa va{allocation.first_page()};
    if (!(retire ? spaces_[index]->unmap(va, allocation.span_bytes(), backing.shared_from_this(),
                                         backing.retirements())
                 : spaces_[index]->unmap(va, allocation.span_bytes()))) {
      continue;
    }
    seen = true;
    if (backing.on_device()) {
      backing.heap().set_owner(backing.runs(), id_);
      backing.wait_for_board();
    }
  }
  return seen;
}

}  // namespace datum
