// A BAR of a served board: mapped where the server offers it, by messages elsewhere.
#pragma once

#include <cstdint>
#include <memory>
#include <span>
#include <vector>

#include <datum/base/mapping.hpp>
#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

#include "vfio_backend/user/channel.hpp"

namespace datum::vfio_user {

/// Writes by message are posted, as on PCIe: a read behind them finds them done. In a BAR of which a part is
/// mapped they are waited for. Once the connection is lost,
/// mapped parts read all ones too.
class SocketBar final : public board::Bar {
 public:
  struct Area {
    std::uint64_t offset = 0;
    Mapping mapping;
  };

  /// `channel` outlives the BAR.
  SocketBar(Channel& channel, std::uint32_t region, std::uint64_t size_bytes, std::vector<Area> areas)
      : channel_(channel), region_(region), size_bytes_(size_bytes), areas_(std::move(areas)) {}

  [[nodiscard]] std::uint64_t size_bytes() const noexcept override { return size_bytes_; }

  [[nodiscard]] std::uint32_t read32(std::uint64_t offset) noexcept override;
  [[nodiscard]] std::uint64_t read64(std::uint64_t offset) noexcept override;
  void write32(std::uint64_t offset, std::uint32_t value) noexcept override;
  void write64(std::uint64_t offset, std::uint64_t value) noexcept override;
  void read_block(std::uint64_t offset, std::span<std::byte> to) noexcept override;
  void write_block(std::uint64_t offset, std::span<const std::byte> from) noexcept override;

  [[nodiscard]] std::uint64_t mapped_bytes() const noexcept;

 private:
  /// A stretch that is accessed in one way. `at` null: by messages.
  struct Stretch {
    std::byte* at = nullptr;
    std::uint64_t bytes = 0;
  };

  template <class Word>
  Word read(std::uint64_t offset) noexcept;
  template <class Word>
  void write(std::uint64_t offset, Word value) noexcept;
  [[nodiscard]] Stretch stretch_at(std::uint64_t offset, std::uint64_t most_bytes) const noexcept;
  void read_by_message(std::uint64_t offset, std::span<std::byte> to) noexcept;
  void write_by_message(std::uint64_t offset, std::span<const std::byte> from) noexcept;

  [[nodiscard]] bool inside(std::uint64_t offset, std::uint64_t bytes) const noexcept {
    return offset < size_bytes_ && bytes <= size_bytes_ - offset;
  }

  Channel& channel_;
  std::uint32_t region_;
  std::uint64_t size_bytes_;
  std::vector<Area> areas_;  // sorted
};

/// What a server says about a region. `areas` may be mapped, each at its offset of `file` + `file_offset`.
struct RegionLayout {
  std::uint64_t size_bytes = 0;
  UniqueFd file;
  std::uint64_t file_offset = 0;
  std::vector<SparseArea> areas;
};

/// device_lost, or invalid_argument: the answer makes no sense.
[[nodiscard]] Result<RegionLayout> query_region(Channel& channel, std::uint32_t region);

/// A BAR with everything mapped that can be. A file that its owner could shrink is not: it would turn into
/// SIGBUS.
[[nodiscard]] std::unique_ptr<SocketBar> make_bar(Channel& channel, std::uint32_t region,
                                                  RegionLayout layout);

/// One access by message. False: it failed.
[[nodiscard]] bool read_region(Channel& channel, std::uint32_t region, std::uint64_t offset,
                               std::span<std::byte> to) noexcept;

}  // namespace datum::vfio_user
