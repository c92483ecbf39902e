#include "driver/memory/physical_memory.hpp"

#include <algorithm>
#include <utility>

#include <fmt/format.h>

#include "driver/memory/device_heap.hpp"
#include "driver/memory/dma_map.hpp"
#include "driver/memory/imported_memory.hpp"

namespace datum {
namespace {

constexpr std::uint64_t most_host_bytes = 1ULL << 46U;

struct Makeable : PhysicalMemory {
  explicit Makeable(Shape shape) : PhysicalMemory(shape) {}
};

}  // namespace

Result<std::shared_ptr<PhysicalMemory>> PhysicalMemory::on_device(AddressWindow& window, Device& device,
                                                                  DeviceHeap& heap, Shape shape) {
  std::shared_ptr<PhysicalMemory> made = std::make_shared<Makeable>(shape);
  Result<std::shared_ptr<MemoryBacking>> backing =
      MemoryBacking::take_device(window, heap, shape.bytes, small_page_bytes);
  if (!backing.ok()) {
    return std::move(backing).error();
  }
  made->backing_ = std::move(*backing);
  made->device_ = &device;
  return made;
}

Result<std::shared_ptr<PhysicalMemory>> PhysicalMemory::in_host(AddressWindow& window,
                                                                std::span<DmaMap* const> maps, Shape shape) {
  if (shape.bytes > most_host_bytes) {
    return make_error(ErrorCode::out_of_host_memory,
                      fmt::format("{} bytes of host memory were asked for, and a process can map {}",
                                  shape.bytes, most_host_bytes),
                      "ask for less");
  }
  std::shared_ptr<PhysicalMemory> made = std::make_shared<Makeable>(shape);
  std::uint64_t granule = small_page_bytes;
  for (const DmaMap* map : maps) {
    granule = std::max(granule, map->granule_bytes());
  }
  Result<std::unique_ptr<HostPiece>> piece =
      HostPiece::create(window, align_up(shape.bytes, granule), small_page_bytes, true);
  if (!piece.ok()) {
    return std::move(piece).error();
  }
  for (DmaMap* map : maps) {
    if (Status mapped = (*piece)->map_for(*map); !mapped.ok()) {
      return std::move(mapped).error();
    }
  }
  made->host_ = std::move(*piece);
  return made;
}

Result<std::shared_ptr<PhysicalMemory>> PhysicalMemory::of_device_file(AddressWindow& window, Device& device,
                                                                       std::span<DmaMap* const> maps, int fd,
                                                                       Shape shape) {
  Result<std::unique_ptr<ImportedMemory>> memory = ImportedMemory::map(window, fd, shape.bytes, false);
  if (!memory.ok()) {
    return std::move(memory).error();
  }
  for (DmaMap* map : maps) {
    if (Status mapped = (*memory)->map_for(*map, fd); !mapped.ok()) {
      return std::move(mapped).error();
    }
  }
  std::shared_ptr<PhysicalMemory> made = std::make_shared<Makeable>(shape);
  made->backing_ = MemoryBacking::take_imported(std::move(*memory));
  made->device_ = &device;
  made->imported_ = true;
  return made;
}

Result<std::shared_ptr<PhysicalMemory>> PhysicalMemory::of_host_file(AddressWindow& window,
                                                                     std::span<DmaMap* const> maps,
                                                                     UniqueFd file, Shape shape) {
  Result<std::unique_ptr<HostPiece>> piece = HostPiece::adopt(window, shape.bytes, std::move(file));
  if (!piece.ok()) {
    return std::move(piece).error();
  }
  for (DmaMap* map : maps) {
    if (!is_aligned(shape.bytes, map->granule_bytes())) {
      return make_error(ErrorCode::unsupported_feature,
                        fmt::format("{} bytes are no multiple of {}, which a board needs for shared memory",
                                    shape.bytes, map->granule_bytes()));
    }
    if (Status mapped = (*piece)->map_for(*map); !mapped.ok()) {
      return std::move(mapped).error();
    }
  }
  std::shared_ptr<PhysicalMemory> made = std::make_shared<Makeable>(shape);
  made->host_ = std::move(*piece);
  made->imported_ = true;
  return made;
}

void PhysicalMemory::for_each_part(const DmaMap& map, std::uint64_t offset, std::uint64_t bytes,
                                   const Visit& visit) const {
  PageTarget target;
  if (device_ == nullptr) {
    target.host = true;
    target.iova = host_->iova(map) + offset;
    visit(target, bytes);
    return;
  }
  if (imported_) {
    target.host = true;
    target.iova = backing_->imported()->iova(map) + offset;
    visit(target, bytes);
    return;
  }
  std::uint64_t skip = offset;
  for (const PageRun& run : backing_->runs()) {
    if (bytes == 0) {
      return;
    }
    if (skip >= run.bytes) {
      skip -= run.bytes;
      continue;
    }
    const std::uint64_t part = std::min(bytes, run.bytes - skip);
    target.device = run.first + skip;
    visit(target, part);
    bytes -= part;
    skip = 0;
  }
}

}  // namespace datum
