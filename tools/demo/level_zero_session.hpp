// What the demo needs of Level Zero: a driver, a device, a context and a synchronous list, each released at
// the end.
#pragma once

#include <cstdint>
#include <optional>
#include <string>
#include <vector>

#include <level_zero/ze_api.h>

#include <datum/ze_datum.h>

namespace datum::demo {

/// A Level Zero call failed. `what` names the call and its result, and the driver's own sentence where it has
/// one.
struct Failure {
  std::string what;
};

/// Throws Failure unless `result` is success. `driver` may be null.
void check(ze_result_t result, const char* call, ze_driver_handle_t driver = nullptr);

/// One allocation of the context.
class Buffer {
 public:
  Buffer(ze_context_handle_t context, void* pointer) noexcept : context_(context), pointer_(pointer) {}

  Buffer(Buffer&& other) noexcept;
  Buffer(const Buffer&) = delete;
  Buffer& operator=(const Buffer&) = delete;
  Buffer& operator=(Buffer&&) = delete;
  ~Buffer();

  [[nodiscard]] void* get() const noexcept { return pointer_; }

 private:
  ze_context_handle_t context_;
  void* pointer_;
};

class Session {
 public:
  /// The first device of the first driver. Throws Failure with a sentence for people.
  Session();
  ~Session();
  Session(const Session&) = delete;
  Session& operator=(const Session&) = delete;

  [[nodiscard]] ze_driver_handle_t driver() const noexcept { return driver_; }

  [[nodiscard]] ze_device_handle_t device() const noexcept { return device_; }

  [[nodiscard]] Buffer allocate_device(std::size_t bytes) const;
  [[nodiscard]] Buffer allocate_host(std::size_t bytes) const;
  /// Copies and waits until the board has done it.
  void copy(void* to, const void* from, std::size_t bytes) const;

  /// Clock cycles of the board, where the driver has the extension.
  [[nodiscard]] std::optional<zex_datum_board_clock_t> board_clock() const;

 private:
  ze_driver_handle_t driver_ = nullptr;
  ze_device_handle_t device_ = nullptr;
  ze_context_handle_t context_ = nullptr;
  ze_command_list_handle_t list_ = nullptr;
  zex_datum_pfnDeviceGetBoardClock_t get_board_clock_ = nullptr;
};

}  // namespace datum::demo
