// A shared file in this process: addresses of its own, and the boards that see it.
#pragma once

#include <cstdint>
#include <memory>
#include <vector>

#include <datum/base/address.hpp>
#include <datum/base/result.hpp>

#include "driver/memory/address_window.hpp"

namespace datum {

class DmaMap;

/// Not thread safe while it is built. Unmaps everywhere when it is destroyed.
class ImportedMemory {
 public:
  /// Addresses for `bytes` (whole pages), aligned as AddressWindow::take says. With `cpu` the file is mapped
  /// there, else a host access faults: that is how device memory behaves. `fd`, which may be closed
  /// afterwards, is of a file that nobody can resize. out_of_host_memory.
  static Result<std::unique_ptr<ImportedMemory>> map(AddressWindow& window, int fd, std::uint64_t bytes,
                                                     bool cpu, std::uint64_t alignment = small_page_bytes);
  ~ImportedMemory();
  ImportedMemory(const ImportedMemory&) = delete;
  ImportedMemory& operator=(const ImportedMemory&) = delete;

  /// Shows the file, which is that of `map`, to a board. out_of_host_memory, with limit and cure;
  /// unsupported_feature: the board takes no descriptors.
  Status map_for(DmaMap& dma, int fd);

  /// The same, for memory that the CPU sees: also for boards that take no descriptors.
  Status map_host_for(DmaMap& dma, int fd);

  [[nodiscard]] std::uintptr_t base() const noexcept { return range_.base; }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

  /// `dma` is one for which it was mapped.
  [[nodiscard]] Iova iova(const DmaMap& dma) const noexcept;

 private:
  struct BoardMapping {
    DmaMap* dma = nullptr;
    Iova iova{};
  };

  explicit ImportedMemory(AddressWindow& window) : window_(window) {}

  Status remember(DmaMap& dma, Result<Iova> iova);

  AddressWindow& window_;
  AddressRange range_{};
  std::uint64_t bytes_ = 0;
  bool reserved_ = false;
  bool cpu_mapped_ = false;
  std::vector<BoardMapping> boards_;
};

}  // namespace datum
