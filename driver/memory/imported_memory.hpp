// A shared file, or parts of several, in this process: addresses of their own, and the boards that see them.
#pragma once

#include <cstdint>
#include <functional>
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
  /// The same addresses with nothing there yet: show and show_cpu fill them.
  static Result<std::unique_ptr<ImportedMemory>> reserve(AddressWindow& window, std::uint64_t bytes,
                                                         std::uint64_t alignment = small_page_bytes);
  ~ImportedMemory();
  ImportedMemory(const ImportedMemory&) = delete;
  ImportedMemory& operator=(const ImportedMemory&) = delete;

  /// Shows the file, which is that of `map`, to a board. out_of_host_memory, with limit and cure;
  /// unsupported_feature: the board takes no descriptors.
  Status map_for(DmaMap& dma, int fd);

  /// Bytes of one file, and where in the range they stand: whole pages.
  struct Part {
    std::uint64_t at = 0;
    std::uint64_t offset = 0;
    std::uint64_t bytes = 0;
  };

  /// Shows a part to a board. Errors as map_for.
  Status show(DmaMap& dma, int fd, const Part& part);
  /// Shows a part to the CPU. out_of_host_memory.
  Status show_cpu(int fd, const Part& part);

  /// The same as map_for, for memory that the CPU sees: also for boards that take no descriptors.
  Status map_host_for(DmaMap& dma, int fd);

  /// The memory begins with this byte of its first page.
  void begin_at(std::uint64_t byte) noexcept { first_byte_ = byte; }

  [[nodiscard]] std::uintptr_t base() const noexcept { return range_.base + first_byte_; }

  [[nodiscard]] std::uint64_t bytes() const noexcept { return bytes_; }

  [[nodiscard]] bool is_seen_by(const DmaMap& dma) const noexcept;

  /// Of the first byte. `dma` is one for which it was mapped.
  [[nodiscard]] Iova iova(const DmaMap& dma) const noexcept;

  using Visit = std::function<Status(std::uint64_t at, std::uint64_t bytes, Iova iova)>;
  /// Calls visit for what the board of `dma` sees, until it fails.
  Status for_each_part(const DmaMap& dma, const Visit& visit) const;

 private:
  struct BoardMapping {
    DmaMap* dma = nullptr;
    std::uint64_t at = 0;
    std::uint64_t bytes = 0;
    Iova iova{};
  };

  explicit ImportedMemory(AddressWindow& window) : window_(window) {}

  Status remember(DmaMap& dma, const Part& part, Result<Iova> iova);

  AddressWindow& window_;
  AddressRange range_{};
  std::uint64_t bytes_ = 0;
  std::uint64_t first_byte_ = 0;
  bool reserved_ = false;
  bool cpu_mapped_ = false;
  std::vector<BoardMapping> boards_;
};

}  // namespace datum
