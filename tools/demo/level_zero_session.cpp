#include "tools/demo/level_zero_session.hpp"

#include <dlfcn.h>
#include <utility>

#include <fmt/format.h>

namespace datum::demo {

namespace {

/// Null or the driver's own sentence. The loader of Debian 12 is older than the function.
const char* last_error_text(ze_driver_handle_t driver) {
  const auto describe = reinterpret_cast<decltype(&zeDriverGetLastErrorDescription)>(
      ::dlsym(RTLD_DEFAULT, "zeDriverGetLastErrorDescription"));
  const char* sentence = nullptr;
  const bool told =
      driver != nullptr && describe != nullptr && describe(driver, &sentence) == ZE_RESULT_SUCCESS;
  return told && sentence != nullptr && *sentence != '\0' ? sentence : nullptr;
}

}  // namespace

void check(ze_result_t result, const char* call, ze_driver_handle_t driver) {
  if (result == ZE_RESULT_SUCCESS) {
    return;
  }
  std::string what = fmt::format("{} failed with 0x{:08x}", call, static_cast<unsigned>(result));
  if (const char* sentence = last_error_text(driver)) {
    what += fmt::format(": {}", sentence);
  }
  throw Failure{std::move(what)};
}

Buffer::Buffer(Buffer&& other) noexcept
    : context_(other.context_), pointer_(std::exchange(other.pointer_, nullptr)) {}

Buffer::~Buffer() {
  if (pointer_ != nullptr) {
    zeMemFree(context_, pointer_);
  }
}

namespace {

/// By the calls that every loader has, also the one of Debian 12.
ze_driver_handle_t first_driver() {
  ze_result_t found = zeInit(0);
  std::uint32_t count = 1;
  ze_driver_handle_t driver = nullptr;
  if (found == ZE_RESULT_SUCCESS) {
    found = zeDriverGet(&count, &driver);
  }
  if (found != ZE_RESULT_SUCCESS || count == 0) {
    throw Failure{fmt::format(
        "the loader found no driver with a board (0x{:08x}). A line above that begins with 'datum:' says "
        "why; "
        "without one, set ZE_ENABLE_ALT_DRIVERS to the path of libze_datum.so and DATUM_BOARDS to a board, "
        "such as 'rtl:'",
        static_cast<unsigned>(found))};
  }
  return driver;
}

}  // namespace

Session::Session() : driver_(first_driver()) {
  std::uint32_t count = 1;
  check(zeDeviceGet(driver_, &count, &device_), "zeDeviceGet", driver_);

  ze_context_desc_t context{};
  context.stype = ZE_STRUCTURE_TYPE_CONTEXT_DESC;
  check(zeContextCreate(driver_, &context, &context_), "zeContextCreate", driver_);

  ze_command_queue_desc_t queue{};
  queue.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  queue.flags = ZE_COMMAND_QUEUE_FLAG_IN_ORDER;
  queue.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
  check(zeCommandListCreateImmediate(context_, device_, &queue, &list_), "zeCommandListCreateImmediate",
        driver_);

  void* function = nullptr;
  if (zeDriverGetExtensionFunctionAddress(driver_, ZEX_DATUM_DEVICE_GET_BOARD_CLOCK, &function) ==
      ZE_RESULT_SUCCESS) {
    get_board_clock_ = reinterpret_cast<zex_datum_pfnDeviceGetBoardClock_t>(function);
  }
}

Session::~Session() {
  if (list_ != nullptr) {
    zeCommandListDestroy(list_);
  }
  if (context_ != nullptr) {
    zeContextDestroy(context_);
  }
}

Buffer Session::allocate_device(std::size_t bytes) const {
  ze_device_mem_alloc_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC;
  void* pointer = nullptr;
  check(zeMemAllocDevice(context_, &desc, bytes, 0, device_, &pointer), "zeMemAllocDevice", driver_);
  return {context_, pointer};
}

Buffer Session::allocate_host(std::size_t bytes) const {
  ze_host_mem_alloc_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC;
  void* pointer = nullptr;
  check(zeMemAllocHost(context_, &desc, bytes, 0, &pointer), "zeMemAllocHost", driver_);
  return {context_, pointer};
}

void Session::copy(void* to, const void* from, std::size_t bytes) const {
  check(zeCommandListAppendMemoryCopy(list_, to, from, bytes, nullptr, 0, nullptr),
        "zeCommandListAppendMemoryCopy", driver_);
}

std::optional<zex_datum_board_clock_t> Session::board_clock() const {
  zex_datum_board_clock_t clock{};
  if (get_board_clock_ == nullptr || get_board_clock_(device_, &clock) != ZE_RESULT_SUCCESS) {
    return std::nullopt;
  }
  return clock;
}

}  // namespace datum::demo
