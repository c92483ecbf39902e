// Initialisation, and the way to the driver.
#include <atomic>
#include <cstdio>
#include <cstdlib>
#include <new>

#include "driver/api/handles.hpp"
#include "driver/api/result.hpp"
#include "driver/api/tables/ddi_handle.hpp"
#include "driver/api/tables/entry_points.hpp"
#include "driver/memory/pinning.hpp"
#include "driver/object/attitude.hpp"
#include "driver/object/board_choice.hpp"
#include "driver/object/driver.hpp"

namespace datum::api {
namespace {

/// There is no driver handle yet through which the sentence could be asked for, so whoever named boards, or
/// asked for a log, reads it here. Everybody else's program is not disturbed by a driver that it does not
/// use.
void tell_once() {
  static constinit std::atomic<bool> told{false};
  const bool wanted = std::getenv("DATUM_BOARDS") != nullptr || std::getenv("DATUM_LOG") != nullptr;
  if (wanted && !told.exchange(true)) {
    std::fprintf(stderr, "datum: %s\n", last_error_description());
  }
}

/// The sentence of a card that nobody named and that cannot be used: to be asked for with
/// zeDriverGetLastErrorDescription, and here for who asked for a log. The other cards work.
void tell_of_boards_left_out() {
  static constinit std::atomic<bool> told{false};
  const bool print = std::getenv("DATUM_LOG") != nullptr && !told.exchange(true);
  for (const Error& error : boards_left_out()) {
    static_cast<void>(answer(error));
    if (print) {
      std::fprintf(stderr, "datum: %s\n", last_error_description());
    }
  }
}

/// A value that means nothing is a mistake of whoever set it, and is told where that is read.
void tell_of_value(const char* variable, const char* value, const char* what_holds) {
  std::fprintf(stderr, "datum: %s is '%.64s', which means nothing: %s\n", variable, value, what_holds);
}

void tell_of_unknown_values() {
  static constinit std::atomic<bool> told{false};
  const char* const attitude = std::getenv(attitude_variable);
  const char* const pinning = std::getenv(pinning_variable);
  if ((is_attitude(attitude) && is_pinning(pinning)) || told.exchange(true)) {
    return;
  }
  if (!is_attitude(attitude)) {
    tell_of_value(attitude_variable, attitude, "devices stay FPGAs; the value there is, is 'gpu'");
  }
  if (!is_pinning(pinning)) {
    tell_of_value(pinning_variable, pinning, "copies pin ordinary memory; the values are 'on' and 'off'");
  }
}

Result<Driver*> driver_of_process() {
  use_handle_prefix(ddi_handle_prefix());
  try {
    return ensure_driver();
  } catch (const std::bad_alloc&) {
    return make_error(ErrorCode::out_of_host_memory, "no memory was left to open the boards");
  }
}

/// SUCCESS; else UNINITIALIZED, whatever the reason was, because a loader goes on to other drivers after that
/// code alone. The sentence has the reason.
ze_result_t initialise() {
  const Result<Driver*> driver = driver_of_process();
  if (driver.ok()) {
    tell_of_unknown_values();
    tell_of_boards_left_out();
    return ZE_RESULT_SUCCESS;
  }
  static_cast<void>(answer(driver.error()));
  tell_once();
  return ZE_RESULT_ERROR_UNINITIALIZED;
}

ze_result_t give_driver(uint32_t* count, ze_driver_handle_t* drivers) {
  Driver* driver = current_driver();
  if (*count != 0 && drivers != nullptr) {
    drivers[0] = reinterpret_cast<ze_driver_handle_t>(driver->handle());
  }
  *count = 1;
  return ZE_RESULT_SUCCESS;
}

bool accepts_gpu() noexcept { return attitude() == Attitude::gpu; }

/// Programs of others ask for what they know and go on without Datum: only who asked for a log is told.
ze_result_t decline_other_types() {
  const ze_result_t code = refuse(
      ZE_RESULT_ERROR_UNINITIALIZED,
      accepts_gpu()
          ? "only NPUs were asked for, and Datum shows its boards as GPUs (DATUM_COMPAT=gpu)"
          : "only GPUs or NPUs were asked for, and Datum drives FPGA accelerators; DATUM_COMPAT=gpu shows "
            "them as GPUs to programs that know nothing else");
  static constinit std::atomic<bool> told{false};
  if (std::getenv("DATUM_LOG") != nullptr && !told.exchange(true)) {
    std::fprintf(stderr, "datum: %s\n", last_error_description());
  }
  return code;
}

}  // namespace

ze_result_t zeInit(ze_init_flags_t flags) {
  if (flags > (ZE_INIT_FLAG_GPU_ONLY | ZE_INIT_FLAG_VPU_ONLY)) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "flags has bits that mean nothing");
  }
  const bool wanted = flags == 0 || (accepts_gpu() && (flags & ZE_INIT_FLAG_GPU_ONLY) != 0);
  return wanted ? initialise() : decline_other_types();
}

ze_result_t zeInitDrivers(uint32_t* pCount, ze_driver_handle_t* phDrivers, ze_init_driver_type_desc_t* desc) {
  if (pCount == nullptr) {
    return refuse_null_pointer("pCount");
  }
  if (desc == nullptr) {
    return refuse_null_pointer("desc");
  }
  if (desc->flags == 0) {
    return refuse(ZE_RESULT_ERROR_INVALID_ENUMERATION, "desc->flags is 0");
  }
  // Bits that are not known yet may mean accelerators: the loader itself asks with all of them set.
  const ze_init_driver_type_flags_t others =
      ZE_INIT_DRIVER_TYPE_FLAG_NPU |
      (accepts_gpu() ? 0U : ze_init_driver_type_flags_t{ZE_INIT_DRIVER_TYPE_FLAG_GPU});
  const bool others_only = (desc->flags & ~others) == 0;
  const ze_result_t code = others_only ? decline_other_types() : initialise();
  if (code != ZE_RESULT_SUCCESS) {
    *pCount = 0;
    return code;
  }
  return give_driver(pCount, phDrivers);
}

ze_result_t zeDriverGet(uint32_t* pCount, ze_driver_handle_t* phDrivers) {
  if (pCount == nullptr) {
    return refuse_null_pointer("pCount");
  }
  // The loader's cached zeInit never reaches a forked child's driver: this is the first call of it that does.
  if (const ze_result_t code = initialise(); code != ZE_RESULT_SUCCESS) {
    return code;
  }
  return give_driver(pCount, phDrivers);
}

}  // namespace datum::api
