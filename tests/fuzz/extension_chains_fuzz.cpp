// Chains of extensions that are anything: known and unknown structures in any order, in circles, each exactly
// as long as it is, so that an access behind one is an error of the address sanitizer.
#include <array>
#include <cstring>
#include <memory>
#include <optional>
#include <sanitizer/lsan_interface.h>
#include <vector>

#include "tests/fuzz/extension_nodes.hpp"
#include "tests/fuzz/input.hpp"
#include "tests/hostile/session.hpp"
#include "tests/support/own_driver.hpp"
#include "tests/support/process_resources.hpp"

namespace datum::test {
namespace {

class Caller {
 public:
  Caller() {
    Result<OwnDriver> driver = OwnDriver::open("step,memory=16M");
    require(driver.ok(), "a board for the fuzzer");
    driver_.emplace(std::move(*driver));
    const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    const auto host = of_type<ze_host_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
    require(api_.context.pfnCreate(driver_->handle(), &desc, &context_) == ZE_RESULT_SUCCESS, "a context");
    require(api_.memory.pfnAllocHost(context_, &host, 4096, 0, &memory_) == ZE_RESULT_SUCCESS, "memory");
  }

  void call(Input& input) {
    const std::uint64_t which = input.below(14);
    size_ = 1 + input.below(1U << 14U);
    flags_ = input.flip() ? 0 : static_cast<std::uint32_t>(input.below(33));
    wrong_type_ = input.below(16) == 0;
    const ExtensionNodes nodes(input);
    chain_ = nodes.first();
    (this->*calls[which])();
  }

 private:
  using Call = void (Caller::*)();

  /// With its type, mostly, and the chain.
  template <class Structure>
  Structure structure(ze_structure_type_t type) {
    auto made = of_type<Structure>(wrong_type_ ? ZE_STRUCTURE_TYPE_FORCE_UINT32 : type);
    made.pNext = chain_;
    return made;
  }

  bool judge(ze_result_t code) {
    require(is_named(code), "each answer has a name in the specification");
    return code == ZE_RESULT_SUCCESS;
  }

  void free(void* pointer) {
    require(api_.memory.pfnFree(context_, pointer) == ZE_RESULT_SUCCESS, "what was allocated can be freed");
  }

  void allocate_device() {
    auto desc = structure<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
    desc.flags = flags_;
    void* pointer = nullptr;
    if (judge(api_.memory.pfnAllocDevice(context_, &desc, size_, 0, driver_->device(), &pointer))) {
      free(pointer);
    }
  }

  void allocate_host() {
    auto desc = structure<ze_host_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
    desc.flags = flags_;
    void* pointer = nullptr;
    if (judge(api_.memory.pfnAllocHost(context_, &desc, size_, 0, &pointer))) {
      free(pointer);
    }
  }

  void allocate_shared() {
    auto on_device = structure<ze_device_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC);
    auto on_host = structure<ze_host_mem_alloc_desc_t>(ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC);
    on_device.flags = flags_ & 0x7U;
    void* pointer = nullptr;
    if (judge(api_.memory.pfnAllocShared(context_, &on_device, &on_host, size_, 0, nullptr, &pointer))) {
      free(pointer);
    }
  }

  void create_context() {
    auto desc = structure<ze_context_desc_t>(ZE_STRUCTURE_TYPE_CONTEXT_DESC);
    desc.flags = flags_;
    ze_context_handle_t made = nullptr;
    if (judge(api_.context.pfnCreate(driver_->handle(), &desc, &made))) {
      require(api_.context.pfnDestroy(made) == ZE_RESULT_SUCCESS, "what was created can be destroyed");
    }
  }

  void create_queue() {
    auto desc = structure<ze_command_queue_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC);
    desc.flags = flags_;
    ze_command_queue_handle_t made = nullptr;
    if (judge(api_.queue.pfnCreate(context_, driver_->device(), &desc, &made))) {
      require(api_.queue.pfnDestroy(made) == ZE_RESULT_SUCCESS, "what was created can be destroyed");
    }
  }

  void create_list() {
    auto desc = structure<ze_command_list_desc_t>(ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC);
    desc.flags = flags_;
    ze_command_list_handle_t made = nullptr;
    if (judge(api_.list.pfnCreate(context_, driver_->device(), &desc, &made))) {
      require(api_.list.pfnDestroy(made) == ZE_RESULT_SUCCESS, "what was created can be destroyed");
    }
  }

  void create_pool() {
    auto desc = structure<ze_event_pool_desc_t>(ZE_STRUCTURE_TYPE_EVENT_POOL_DESC);
    desc.flags = flags_;
    desc.count = static_cast<std::uint32_t>(size_ % 64);
    ze_event_pool_handle_t pool = nullptr;
    if (!judge(api_.pool.pfnCreate(context_, &desc, 0, nullptr, &pool))) {
      return;
    }
    auto of_event = structure<ze_event_desc_t>(ZE_STRUCTURE_TYPE_EVENT_DESC);
    ze_event_handle_t event = nullptr;
    if (judge(api_.event.pfnCreate(pool, &of_event, &event))) {
      require(api_.event.pfnDestroy(event) == ZE_RESULT_SUCCESS, "what was created can be destroyed");
    }
    require(api_.pool.pfnDestroy(pool) == ZE_RESULT_SUCCESS, "what was created can be destroyed");
  }

  void create_image() {
    auto desc = structure<ze_image_desc_t>(ZE_STRUCTURE_TYPE_IMAGE_DESC);
    desc.type = ZE_IMAGE_TYPE_2D;
    desc.format = {ZE_IMAGE_FORMAT_LAYOUT_8, ZE_IMAGE_FORMAT_TYPE_UINT, {}, {}, {}, {}};
    desc.flags = flags_;
    desc.width = 16;
    desc.height = 16;
    ze_image_handle_t made = nullptr;
    if (judge(api_.image.pfnCreate(context_, driver_->device(), &desc, &made))) {
      require(api_.image.pfnDestroy(made) == ZE_RESULT_SUCCESS, "what was created can be destroyed");
    }
    auto properties = structure<ze_image_properties_t>(ZE_STRUCTURE_TYPE_IMAGE_PROPERTIES);
    desc.pNext = nullptr;
    judge(api_.image.pfnGetProperties(driver_->device(), &desc, &properties));
  }

  void create_physical() {
    auto desc = structure<ze_physical_mem_desc_t>(ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC);
    desc.flags = flags_;
    desc.size = 4096 * (size_ % 8);
    ze_physical_mem_handle_t made = nullptr;
    if (judge(api_.physical.pfnCreate(context_, driver_->device(), &desc, &made))) {
      require(api_.physical.pfnDestroy(context_, made) == ZE_RESULT_SUCCESS,
              "what was created can be destroyed");
    }
  }

  void ask_device() {
    auto properties = structure<ze_device_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES);
    judge(api_.device.pfnGetProperties(driver_->device(), &properties));
    auto images = structure<ze_device_image_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_IMAGE_PROPERTIES);
    judge(api_.device.pfnGetImageProperties(driver_->device(), &images));
  }

  void ask_memory() {
    std::array<ze_device_memory_properties_t, 2> memories{};
    memories.fill(structure<ze_device_memory_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES));
    std::uint32_t count = memories.size();
    judge(api_.device.pfnGetMemoryProperties(driver_->device(), &count, memories.data()));
  }

  void ask_groups() {
    std::array<ze_command_queue_group_properties_t, 4> groups{};
    groups.fill(
        structure<ze_command_queue_group_properties_t>(ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES));
    std::uint32_t count = groups.size();
    judge(api_.device.pfnGetCommandQueueGroupProperties(driver_->device(), &count, groups.data()));
    auto peers = structure<ze_device_p2p_properties_t>(ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES);
    judge(api_.device.pfnGetP2PProperties(driver_->device(), driver_->device(), &peers));
  }

  void ask_allocation() {
    auto properties =
        structure<ze_memory_allocation_properties_t>(ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES);
    judge(api_.memory.pfnGetAllocProperties(context_, flags_ != 0 ? memory_ : &properties, &properties,
                                            nullptr));
  }

  void ask_driver() {
    auto properties = structure<ze_driver_properties_t>(ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES);
    judge(api_.driver.pfnGetProperties(driver_->handle(), &properties));
  }

  static constexpr std::array<Call, 14> calls{
      &Caller::allocate_device, &Caller::allocate_host, &Caller::allocate_shared, &Caller::create_context,
      &Caller::create_queue,    &Caller::create_list,   &Caller::create_pool,     &Caller::create_image,
      &Caller::create_physical, &Caller::ask_device,    &Caller::ask_memory,      &Caller::ask_groups,
      &Caller::ask_allocation,  &Caller::ask_driver};

  const ApiTables& api_ = api_tables();
  std::optional<OwnDriver> driver_;
  ze_context_handle_t context_ = nullptr;
  void* memory_ = nullptr;
  void* chain_ = nullptr;
  std::size_t size_ = 0;
  std::uint32_t flags_ = 0;
  bool wrong_type_ = false;
};

}  // namespace
}  // namespace datum::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace datum::test;
  // Ends with the process, like a program's driver. Handles are not what the leak check looks for, and
  // objects belong to them.
  static Caller* const caller = [] {
    const __lsan::ScopedDisabler not_leaked;
    return new Caller;
  }();
  static const std::size_t before = open_descriptors();
  Input input(data, size);
  caller->call(input);
  constexpr std::size_t kept = 32;  // of what is opened at first use and stays
  require(open_descriptors() <= before + kept, "calls leave no descriptors behind");
  return 0;
}
