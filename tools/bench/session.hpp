// A Level Zero device through the stock loader, on the board that a group of benchmarks asks for.
#pragma once

#include <cstddef>
#include <cstdint>
#include <stdexcept>
#include <string>

#include <level_zero/ze_api.h>

#include <datum/ze_datum.h>

namespace datum::bench {

class Failure : public std::runtime_error {
 public:
  using std::runtime_error::runtime_error;
};

/// Throws Failure unless `result` is success.
void check(ze_result_t result, const char* call);

/// Sets DATUM_BOARDS to `board` unless the caller's environment has it, and ZE_ENABLE_ALT_DRIVERS to this
/// build's driver unless set. Once a process: the loader reads both once.
void choose_board(const std::string& board);

class Session {
 public:
  /// Chooses `board`. One a process.
  explicit Session(const std::string& board);
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] ze_driver_handle_t driver() const noexcept { return driver_; }

  [[nodiscard]] ze_device_handle_t device() const noexcept { return device_; }

  [[nodiscard]] ze_context_handle_t context() const noexcept { return context_; }

  [[nodiscard]] void* allocate_device(std::size_t bytes) const;
  [[nodiscard]] void* allocate_host(std::size_t bytes) const;
  [[nodiscard]] void* allocate_shared(std::size_t bytes) const;
  void free(void* pointer) const;

  /// False for another driver than Datum's, which the caller put into ZE_ENABLE_ALT_DRIVERS.
  [[nodiscard]] bool is_datum() const noexcept { return get_board_clock_ != nullptr; }

  /// Copies and waits.
  void copy(void* to, const void* from, std::size_t bytes) const;
  /// The same. Returns the board's clock cycles from before the submission to after the wait.
  std::uint64_t copy_cycles(void* to, const void* from, std::size_t bytes) const;
  [[nodiscard]] zex_datum_board_clock_t board_clock() const;

 private:
  ze_driver_handle_t driver_ = nullptr;
  ze_device_handle_t device_ = nullptr;
  ze_context_handle_t context_ = nullptr;
  ze_command_list_handle_t list_ = nullptr;
  zex_datum_pfnDeviceGetBoardClock_t get_board_clock_ = nullptr;
};

}  // namespace datum::bench
