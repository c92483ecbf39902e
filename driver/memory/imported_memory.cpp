#include "driver/memory/imported_memory.hpp"

#include <cerrno>
#include <cstring>
#include <span>
#include <sys/mman.h>

#include <fmt/format.h>

#include "driver/memory/dma_map.hpp"

namespace datum {

Result<std::unique_ptr<ImportedMemory>>
ImportedMemory::map(AddressWindow& window, int fd, std::uint64_t bytes, bool cpu, std::uint64_t alignment) {
  std::unique_ptr<ImportedMemory> imported(new ImportedMemory(window));
  Result<AddressRange> range = window.take(bytes, alignment);
  if (!range.ok()) {
    return std::move(range).error();
  }
  imported->range_ = *range;
  imported->reserved_ = true;
  imported->bytes_ = bytes;
  if (cpu) {
    void* host = ::mmap(reinterpret_cast<void*>(range->base), bytes, PROT_READ | PROT_WRITE,
                        MAP_SHARED | MAP_FIXED, fd, 0);
    if (host == MAP_FAILED) {
      return Error{ErrorCode::out_of_host_memory,
                   errno,
                   fmt::format("{} bytes of shared memory cannot be mapped: {}", bytes, std::strerror(errno)),
                   {}};
    }
    imported->cpu_mapped_ = true;
  }
  return imported;
}

ImportedMemory::~ImportedMemory() {
  for (const BoardMapping& mapping : boards_) {
    mapping.dma->unmap(mapping.iova, bytes_);
  }
  // Without its reservation back the range could be taken by anybody: it is then lost for the window.
  const bool clean = !cpu_mapped_ || AddressWindow::release_pages(range_.base, bytes_).ok();
  if (reserved_ && clean) {
    window_.release(range_);
  }
}

Status ImportedMemory::map_for(DmaMap& dma, int fd) {
  boards_.reserve(boards_.size() + 1);
  return remember(dma, dma.map_descriptor(fd, bytes_, board::DmaAccess::read_write));
}

Status ImportedMemory::map_host_for(DmaMap& dma, int fd) {
  boards_.reserve(boards_.size() + 1);
  const std::span<std::byte> host(reinterpret_cast<std::byte*>(range_.base), bytes_);
  return remember(dma, dma.map_file(host, fd, board::DmaAccess::read_write));
}

Status ImportedMemory::remember(DmaMap& dma, Result<Iova> iova) {
  if (!iova.ok()) {
    return std::move(iova).error();
  }
  boards_.push_back({&dma, *iova});
  return {};
}

Iova ImportedMemory::iova(const DmaMap& dma) const noexcept {
  for (const BoardMapping& mapping : boards_) {
    if (mapping.dma == &dma) {
      return mapping.iova;
    }
  }
  return Iova{};
}

}  // namespace datum
