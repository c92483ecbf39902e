// A board as the driver sees it: one PcieFunction whose registers were recognised and whose capabilities were
// checked.
#pragma once

#include <atomic>
#include <cstdint>
#include <memory>
#include <string>
#include <string_view>

#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

#include "driver/device/interrupt_hub.hpp"
#include "driver/device/mmu.hpp"

namespace datum {

/// What the board said about itself, every number checked against what the driver can handle before it is
/// used.
struct BoardCapabilities {
  std::uint32_t version = 0;
  std::uint32_t build_id = 0;
  unsigned ring_count = 0;
  unsigned channel_count = 0;
  unsigned space_count = 0;
  std::uint64_t memory_bytes = 0;
  std::uint64_t onchip_bytes = 0;
  std::uint64_t aperture_fixed_bytes = 0;
  std::uint64_t aperture_window_bytes = 0;
  std::uint64_t clock_hz = 0;
  std::uint64_t timer_hz = 0;
  bool memory_clean = false;
  bool ecc = false;  ///< words of ordinal 0 are protected

  bool operator==(const BoardCapabilities&) const = default;
};

/// Thread safe. Owned by driver/object/device.hpp.
class Board {
 public:
  /// Opens `address` ("rtl:seed=7", "vfio:0000:03:00.0") through the backend table, recognises and resets the
  /// board.
  static Result<std::unique_ptr<Board>> open(std::string_view address);
  /// Takes over a function that was opened elsewhere (tests: fakes and decorators).
  static Result<std::unique_ptr<Board>> adopt(std::unique_ptr<board::PcieFunction> function);

  ~Board();
  Board(const Board&) = delete;
  Board& operator=(const Board&) = delete;

  [[nodiscard]] board::PcieFunction& function() noexcept { return *function_; }

  [[nodiscard]] const BoardCapabilities& capabilities() const noexcept { return capabilities_; }

  [[nodiscard]] Mmu& mmu() noexcept { return *mmu_; }

  [[nodiscard]] InterruptHub& hub() noexcept { return *hub_; }

  /// BAR2: device memory through the aperture (fixed part first).
  [[nodiscard]] board::Bar& aperture() noexcept { return *aperture_; }

  [[nodiscard]] std::uint32_t read32(std::uint64_t offset) noexcept { return registers_->read32(offset); }

  [[nodiscard]] std::uint64_t read64(std::uint64_t offset) noexcept { return registers_->read64(offset); }

  void write32(std::uint64_t offset, std::uint32_t value) noexcept { registers_->write32(offset, value); }

  void write64(std::uint64_t offset, std::uint64_t value) noexcept { registers_->write64(offset, value); }

  /// TIMER of the board, nanoseconds when capabilities().timer_hz is 10^9.
  [[nodiscard]] std::uint64_t read_timer() noexcept;

  /// Success, or device_lost with the reason; once lost it stays lost until reset. Reads one register.
  Status health();
  /// What health() last found out; touches nothing.
  [[nodiscard]] bool is_lost() const noexcept;
  /// Called by whoever finds that the board does not answer; the first reason is kept.
  void declare_lost(std::string reason);
  /// declare_lost of a board that answers but does not go on, which is told so: who looks on from the board's
  /// side has that moment, too.
  void give_up(std::string reason);

  /// Puts the board into its power-on state and leaves it lost, so that nobody uses it before
  /// begin_next_life(). Its rings, roots and, on a card, memory are gone then. device_lost: it does not
  /// answer afterwards either, or is another board; unsupported_feature: the card has no reset, and is as it
  /// was.
  Status reset();
  /// Ends the loss, after reset().
  void begin_next_life();

  /// How often the board was reset since it was opened: what was made in an earlier life is of no use.
  [[nodiscard]] std::uint64_t life() const noexcept;

 private:
  Board();
  Status find_bars();
  Status come_back();
  Status recognise();
  Result<bool> reset_registers();
  Status read_capabilities(BoardCapabilities& c);
  void set_park_recheck();
  void start_scrubber();

  std::unique_ptr<board::PcieFunction> function_;
  board::Bar* registers_ = nullptr;
  board::Bar* aperture_ = nullptr;
  BoardCapabilities capabilities_;
  std::unique_ptr<Mmu> mmu_;
  std::unique_ptr<InterruptHub> hub_;
  struct Loss;
  std::unique_ptr<Loss> loss_;
};

}  // namespace datum
