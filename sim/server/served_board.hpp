// A simulated board as the device of one client: what stands between the protocol's requests and the board.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>
#include <string>
#include <string_view>
#include <vector>

#include <datum/base/mutex.hpp>
#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>

#include "sim/board/sim_function.hpp"
#include "sim/server/config_space.hpp"
#include "sim/server/file_mappings.hpp"
#include "vfio_user/capabilities.hpp"
#include "vfio_user/messages.hpp"

namespace datum::sim {

/// Used by the thread that serves the client; the board's own thread runs beside it, and those of onlookers
/// may read and write regions. Requests answer 0 or an errno for the client, and leave everything as it was
/// when they fail.
class ServedBoard {
 public:
  /// A new board in power-on state, its memory zero. `client_number` counts from 0: files that the board
  /// writes (waveforms) get it as a suffix from the second client on. invalid_argument: also for a board that
  /// is step-locked; else as SimFunction::create.
  static Result<std::unique_ptr<ServedBoard>> create(std::string_view address, unsigned client_number);
  /// Stops the board.
  ~ServedBoard();
  ServedBoard(const ServedBoard&) = delete;
  ServedBoard& operator=(const ServedBoard&) = delete;

  /// Memory that was not handed over as a file is reached through `remote`; nullptr: through nobody.
  void reach_rest_through(RemoteMemory* remote);

  [[nodiscard]] const vfio_user::BoardCapabilities& capabilities() const noexcept { return capabilities_; }

  [[nodiscard]] const board::FunctionInfo& info() const noexcept { return function_->info(); }

  int map(const vfio_user::DmaMap& request, int descriptor);
  int unmap(const vfio_user::DmaUnmap& request);

  [[nodiscard]] std::uint64_t region_bytes(std::uint32_t index) const noexcept;

  /// Part of BAR2 that may be mapped, at the same offset of `aperture_descriptor`.
  [[nodiscard]] std::uint64_t mappable_bytes() const noexcept { return mappable_bytes_; }

  [[nodiscard]] int aperture_descriptor() const noexcept;

  /// The range lies in the region.
  void read_region(const vfio_user::RegionAccess& access, std::span<std::byte> to);
  void write_region(const vfio_user::RegionAccess& access, std::span<const std::byte> from);

  [[nodiscard]] std::uint32_t irq_count(std::uint32_t index) const noexcept;
  /// `start` + the number of descriptors <= irq_count(index). Invalid ones disconnect.
  void connect(std::uint32_t index, std::uint32_t start, std::vector<UniqueFd> descriptors);
  void trigger(std::uint32_t index, std::uint32_t vector);

  int reset();

  /// Readable once the board is lost.
  [[nodiscard]] int lost_descriptor() const noexcept { return function_->board().lost_descriptor(); }

  [[nodiscard]] bool is_lost() const noexcept { return function_->board().is_lost(); }

  /// Tells the client by its error interrupt, and returns the reason; empty while the board is not lost.
  std::string report_loss();

  [[nodiscard]] std::size_t mappings() const;

 private:
  ServedBoard(std::unique_ptr<SimFunction> function, vfio_user::BoardCapabilities capabilities);

  void read_message_table(std::uint64_t offset, std::span<std::byte> to);
  void after_config_write(const ConfigSpace::Effect& effect, bool bus_master);

  std::unique_ptr<SimFunction> function_;
  vfio_user::BoardCapabilities capabilities_;
  std::uint64_t mappable_bytes_ = 0;
  FileMappings files_;
  Mutex client_state_;  // guards the next two
  ConfigSpace config_ DATUM_GUARDED_BY(client_state_);
  std::vector<std::byte> message_table_
      DATUM_GUARDED_BY(client_state_);  // what the client wrote; the board's own is the simulated host's
  std::array<UniqueFd, 2> notices_;     // error, request
};

}  // namespace datum::sim
