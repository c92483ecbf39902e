// A simulated board as a PCIe function.
#pragma once

#include <memory>
#include <string>

#include <datum/board/pcie_function.hpp>

#include "sim/board/aperture_bar.hpp"
#include "sim/board/board.hpp"
#include "sim/board/board_number.hpp"
#include "sim/board/board_thread.hpp"
#include "sim/board/register_bar.hpp"

namespace datum::sim {

class SimFunction final : public board::PcieFunction {
 public:
  static Result<std::unique_ptr<SimFunction>> create(std::string address, const BoardOptions& options);
  SimFunction(const SimFunction&) = delete;
  SimFunction& operator=(const SimFunction&) = delete;
  ~SimFunction() override;

  [[nodiscard]] const board::FunctionInfo& info() const noexcept override { return info_; }

  [[nodiscard]] const board::FunctionLimits& limits() const noexcept override { return limits_; }

  Result<board::Bar*> bar(unsigned index) override;
  Status dma_map(Iova iova, std::span<std::byte> host, board::DmaAccess access) override;
  Status dma_map_fd(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes,
                    board::DmaAccess access) override;
  Status dma_unmap(Iova iova, std::uint64_t bytes) override;
  Result<int> interrupt_fd(unsigned vector) override;
  Result<board::WaitOutcome> wait(unsigned vector, int wake_fd, std::uint64_t deadline_ns) override;
  [[nodiscard]] board::Clock clock() noexcept override;
  Status reset(board::ResetKind kind) override;
  Status health() override;
  std::vector<board::DmaFault> take_dma_faults() override;
  Result<UniqueFd> export_memory(std::span<const board::DeviceRange> ranges, std::string_view label) override;
  Status end_export(std::span<const board::DeviceRange> ranges) override;
  void relax() noexcept override;

  // For tests and tools that know that the board is simulated.

  /// Step-locked boards: hash of all bus transactions so far. Equal runs have equal hashes.
  [[nodiscard]] std::uint64_t transaction_hash();
  /// Cycles since the board was opened.
  [[nodiscard]] std::uint64_t cycle();
  /// Takes the board off the bus.
  void lose(std::string reason);

  /// What the board is made of, for who serves it to another process. Used under its turn.
  [[nodiscard]] Board& board() noexcept { return *board_; }

  /// Bytes of host memory that hold the board's DRAM.
  [[nodiscard]] std::uint64_t resident_memory_bytes();

 private:
  SimFunction(std::string address, std::unique_ptr<Board> board);

  void wake() noexcept;
  Status map(Iova iova, Result<HostRange> range, std::uint64_t bytes, board::DmaAccess access);
  [[nodiscard]] Status check_map(Iova iova, std::uint64_t bytes);
  [[nodiscard]] int descriptor_to_wait_for(unsigned vector);
  Result<board::WaitOutcome> wait_running(unsigned vector, int wake_fd, std::uint64_t deadline_ns);
  Result<board::WaitOutcome> wait_stepping(unsigned vector, int wake_fd, std::uint64_t deadline_ns);
  [[nodiscard]] bool skip_idle_time(const Activity& activity, std::uint64_t deadline_ns);
  [[nodiscard]] Error lost_error() const;

  std::unique_ptr<Board> board_;
  BoardNumber number_;
  board::FunctionInfo info_;
  board::FunctionLimits limits_;
  RegisterBar registers_;
  ApertureBar aperture_;
  std::unique_ptr<BoardThread>
      thread_;  // none for a step-locked board; last, so that it stops before the rest goes
};

}  // namespace datum::sim
