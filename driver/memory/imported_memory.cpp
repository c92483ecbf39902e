#include "driver/memory/imported_memory.hpp"

#include <algorithm>
#include <cerrno>
#include <span>
#include <sys/mman.h>

#include <fmt/format.h>

#include "driver/memory/dma_map.hpp"
#include "driver/memory/host_limits.hpp"

namespace datum {

Result<std::unique_ptr<ImportedMemory>> ImportedMemory::reserve(AddressWindow& window, std::uint64_t bytes,
                                                                std::uint64_t alignment) {
  std::unique_ptr<ImportedMemory> imported(new ImportedMemory(window));
  Result<AddressRange> range = window.take(bytes, alignment);
  if (!range.ok()) {
    return std::move(range).error();
  }
  imported->range_ = *range;
  imported->reserved_ = true;
  imported->bytes_ = bytes;
  return imported;
}

Result<std::unique_ptr<ImportedMemory>>
ImportedMemory::map(AddressWindow& window, int fd, std::uint64_t bytes, bool cpu, std::uint64_t alignment) {
  Result<std::unique_ptr<ImportedMemory>> imported = reserve(window, bytes, alignment);
  if (imported.ok() && cpu) {
    if (Status shown = (*imported)->show_cpu(fd, {0, 0, bytes}); !shown.ok()) {
      return std::move(shown).error();
    }
  }
  return imported;
}

ImportedMemory::~ImportedMemory() {
  for (const BoardMapping& mapping : boards_) {
    mapping.dma->unmap(mapping.iova, mapping.bytes);
  }
  // Without its reservation back the range could be taken by anybody: it is then lost for the window.
  const bool clean = !cpu_mapped_ || AddressWindow::release_pages(range_.base, bytes_).ok();
  if (reserved_ && clean) {
    window_.release(range_);
  }
}

Status ImportedMemory::show_cpu(int fd, const Part& part) {
  void* const host =
      ::mmap(reinterpret_cast<void*>(range_.base + part.at), part.bytes, PROT_READ | PROT_WRITE,
             MAP_SHARED | MAP_FIXED, fd, static_cast<off_t>(part.offset));
  if (host == MAP_FAILED) {
    return no_host_memory(fmt::format("{} bytes of shared memory cannot be mapped", part.bytes), errno);
  }
  cpu_mapped_ = true;
  return {};
}

Status ImportedMemory::show(DmaMap& dma, int fd, const Part& part) {
  boards_.reserve(boards_.size() + 1);
  return remember(dma, part, dma.map_descriptor(fd, part.bytes, board::DmaAccess::read_write, part.offset));
}

Status ImportedMemory::map_for(DmaMap& dma, int fd) { return show(dma, fd, {0, 0, bytes_}); }

Status ImportedMemory::map_host_for(DmaMap& dma, int fd) {
  boards_.reserve(boards_.size() + 1);
  const std::span<std::byte> host(reinterpret_cast<std::byte*>(range_.base), bytes_);
  return remember(dma, {0, 0, bytes_}, dma.map_file(host, fd, board::DmaAccess::read_write));
}

Status ImportedMemory::remember(DmaMap& dma, const Part& part, Result<Iova> iova) {
  if (!iova.ok()) {
    return std::move(iova).error();
  }
  boards_.push_back({&dma, part.at, part.bytes, *iova});
  return {};
}

bool ImportedMemory::is_seen_by(const DmaMap& dma) const noexcept {
  return std::any_of(boards_.begin(), boards_.end(),
                     [&](const BoardMapping& mapping) { return mapping.dma == &dma; });
}

Iova ImportedMemory::iova(const DmaMap& dma) const noexcept {
  for (const BoardMapping& mapping : boards_) {
    if (mapping.dma == &dma) {
      return mapping.iova;
    }
  }
  return Iova{};
}

Status ImportedMemory::for_each_part(const DmaMap& dma, const Visit& visit) const {
  for (const BoardMapping& mapping : boards_) {
    if (mapping.dma != &dma) {
      continue;
    }
    if (Status visited = visit(mapping.at, mapping.bytes, mapping.iova); !visited.ok()) {
      return visited;
    }
  }
  return {};
}

}  // namespace datum
