// Handles of 64 bytes that are anything: random ones, and real ones with bytes changed. What opens is the
// memory that was exported and nothing else, and nothing of a refused handle is left behind.
#include <cstring>
#include <fcntl.h>
#include <optional>
#include <sanitizer/lsan_interface.h>
#include <vector>

#include "driver/memory/ipc_handle.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/hostile/session.hpp"
#include "tests/support/own_driver.hpp"
#include "tests/support/process_resources.hpp"

namespace datum::test {
namespace {

constexpr std::size_t page_bytes = 4096;
constexpr std::size_t bytes = 2 * page_bytes;

/// A driver, memory and an event pool that it exported. Lives as long as the process.
class Exporter {
 public:
  Exporter() {
    Result<OwnDriver> driver = OwnDriver::open("step,memory=16M");
    require(driver.ok(), "a board for the fuzzer");
    driver_.emplace(std::move(*driver));
    const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    const auto host = of_type<ze_host_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
    const ze_event_pool_desc_t pool{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                    ZE_EVENT_POOL_FLAG_HOST_VISIBLE | ZE_EVENT_POOL_FLAG_IPC, 4};
    succeed(api_.context.pfnCreate(driver_->handle(), &desc, &context_));
    succeed(api_.memory.pfnAllocHost(context_, &host, bytes, 0, &memory_));
    succeed(api_.pool.pfnCreate(context_, &pool, 0, nullptr, &pool_));
    std::memset(memory_, 0x5a, bytes);
    memory_handle();  // from here on all that stays open is open
    pool_handle();
  }

  /// Real handles, which are given out anew after one was put back.
  IpcHandleBytes memory_handle() {
    ze_ipc_mem_handle_t handle{};
    succeed(api_.memory.pfnGetIpcHandle(context_, memory_, &handle));
    return copy(handle.data);
  }

  IpcHandleBytes pool_handle() {
    ze_ipc_event_pool_handle_t handle{};
    succeed(api_.pool.pfnGetIpcHandle(pool_, &handle));
    return copy(handle.data);
  }

  void open_memory(const IpcHandleBytes& from, ze_ipc_memory_flags_t flags) {
    ze_ipc_mem_handle_t handle{};
    std::memcpy(handle.data, from.data(), from.size());
    void* opened = nullptr;
    const ze_result_t code =
        api_.memory.pfnOpenIpcHandle(context_, driver_->device(), handle, flags, &opened);
    judge(code);
    require((code == ZE_RESULT_SUCCESS) == (opened != nullptr), "memory comes with SUCCESS, and only then");
    if (opened != nullptr) {
      void* base = nullptr;
      std::size_t size = 0;
      succeed(api_.memory.pfnGetAddressRange(context_, opened, &base, &size));
      // How much of its last page is the allocation's only the handle tells.
      require(size <= bytes && bytes - size < page_bytes && std::memcmp(opened, memory_, size) == 0,
              "what opens is what was exported");
      succeed(api_.memory.pfnCloseIpcHandle(context_, opened));
    }
  }

  void open_pool(const IpcHandleBytes& from) {
    ze_ipc_event_pool_handle_t handle{};
    std::memcpy(handle.data, from.data(), from.size());
    ze_event_pool_handle_t opened = nullptr;
    const ze_result_t code = api_.pool.pfnOpenIpcHandle(context_, handle, &opened);
    judge(code);
    require((code == ZE_RESULT_SUCCESS) == (opened != nullptr), "a pool comes with SUCCESS, and only then");
    if (opened != nullptr) {
      const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, 3, 0, 0};
      ze_event_handle_t event = nullptr;
      succeed(api_.event.pfnCreate(opened, &desc, &event));
      succeed(api_.event.pfnDestroy(event));
      succeed(api_.pool.pfnCloseIpcHandle(opened));
    }
  }

  void put_memory(const IpcHandleBytes& from) {
    ze_ipc_mem_handle_t handle{};
    std::memcpy(handle.data, from.data(), from.size());
    judge(api_.memory.pfnPutIpcHandle(context_, handle));
  }

  void put_pool(const IpcHandleBytes& from) {
    ze_ipc_event_pool_handle_t handle{};
    std::memcpy(handle.data, from.data(), from.size());
    judge(api_.pool.pfnPutIpcHandle(context_, handle));
  }

 private:
  template <class Data>
  static IpcHandleBytes copy(const Data& data) {
    IpcHandleBytes copied{};
    std::memcpy(copied.data(), data, copied.size());
    return copied;
  }

  static void succeed(ze_result_t code) {
    require(code == ZE_RESULT_SUCCESS, "what is right goes on to work");
  }

  void judge(ze_result_t code) {
    require(is_named(code), "each answer has a name in the specification");
    const char* sentence = nullptr;
    if (code != ZE_RESULT_SUCCESS) {
      api_.driver.pfnGetLastErrorDescription(driver_->handle(), &sentence);
      require(sentence != nullptr && *sentence != '\0', "each refusal has a sentence");
    }
  }

  const ApiTables& api_ = api_tables();
  std::optional<OwnDriver> driver_;
  ze_context_handle_t context_ = nullptr;
  void* memory_ = nullptr;
  ze_event_pool_handle_t pool_ = nullptr;
};

/// Ends with the process, like a program's driver. Handles are not what the leak check looks for, and objects
/// belong to them.
Exporter& exporter() {
  static Exporter* const made = [] {
    const __lsan::ScopedDisabler not_leaked;
    return new Exporter;
  }();
  return *made;
}

void check_codec(const IpcHandleBytes& handle) {
  const Result<IpcHandle> decoded = decode_ipc_handle(handle);
  if (decoded.ok()) {
    const IpcHandleBytes again = encode(*decoded);
    const Result<IpcHandle> twice = decode_ipc_handle(again);
    require(twice.ok() && twice->fd == decoded->fd && twice->hints == decoded->hints,
            "what was read is written and read again as the same");
  }
}

/// Real bytes, some of them changed, or none that are real.
IpcHandleBytes draw_handle(Input& input, bool& real) {
  const std::uint64_t kind = input.below(4);
  real = false;
  IpcHandleBytes handle{};
  if (kind == 0) {
    const auto drawn = input.bytes(handle.size());
    std::memcpy(handle.data(), drawn.data(), drawn.size());
    return handle;
  }
  handle = (kind & 1U) != 0 ? exporter().memory_handle() : exporter().pool_handle();
  real = true;
  for (std::uint64_t changes = input.below(4); changes != 0; --changes) {
    auto& byte = handle[input.below(handle.size())];
    byte = static_cast<char>(byte ^ input.number<char>());
  }
  return handle;
}

}  // namespace
}  // namespace datum::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace datum::test;
  Input input(data, size);
  exporter();
  const std::size_t before = open_descriptors();
  bool real = false;
  for (int round = 0; round < 8 && !input.empty(); ++round) {
    const datum::IpcHandleBytes handle = draw_handle(input, real);
    check_codec(handle);
    switch (input.below(8)) {
    case 0:
      exporter().put_memory(handle);
      break;
    case 1:
      exporter().put_pool(handle);
      break;
    case 2:
    case 3:
      exporter().open_pool(handle);
      break;
    default:
      exporter().open_memory(handle, static_cast<ze_ipc_memory_flags_t>(input.below(5)));
    }
  }
  exporter().put_memory(exporter().memory_handle());
  exporter().put_pool(exporter().pool_handle());
  require(open_descriptors() == before, "handles leave no descriptors behind");
  return 0;
}
