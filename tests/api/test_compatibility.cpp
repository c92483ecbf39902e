// The attitude towards middleware that knows nothing but GPUs. DATUM_COMPAT=gpu is set for the whole run; a
// suite of its own shows what happens without.
#include <array>
#include <sys/mman.h>

#include <level_zero/zes_api.h>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

using ImportFunction = ze_result_t(ZE_APICALL*)(ze_driver_handle_t, void*, std::size_t);
using ReleaseFunction = ze_result_t(ZE_APICALL*)(ze_driver_handle_t, void*);
using BaseFunction = ze_result_t(ZE_APICALL*)(ze_driver_handle_t, void*, void**);

constexpr const char* host_pointer_functions[] = {"zexDriverImportExternalPointer",
                                                  "zexDriverReleaseImportedPointer",
                                                  "zexDriverGetHostPointerBaseAddress"};

std::vector<ze_command_queue_group_properties_t> queue_groups(ze_device_handle_t device) {
  std::uint32_t count = 0;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetCommandQueueGroupProperties(device, &count, nullptr));
  std::vector<ze_command_queue_group_properties_t> groups(count);
  for (ze_command_queue_group_properties_t& group : groups) {
    group.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_GROUP_PROPERTIES;
  }
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetCommandQueueGroupProperties(device, &count, groups.data()));
  return groups;
}

ze_device_type_t type_of(ze_device_handle_t device) {
  ze_device_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetProperties(device, &properties));
  return properties.type;
}

class Compatibility : public ApiTest {
 protected:
  template <class Function>
  [[nodiscard]] Function extension(const char* name) const {
    void* address = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeDriverGetExtensionFunctionAddress(driver(), name, &address)) << name;
    return reinterpret_cast<Function>(address);
  }
};

TEST_F(Compatibility, given_gpu_types_when_initialised_then_the_driver_is_there) {
  for (const ze_init_driver_type_flags_t flags :
       {ze_init_driver_type_flags_t{ZE_INIT_DRIVER_TYPE_FLAG_GPU},
        ze_init_driver_type_flags_t{ZE_INIT_DRIVER_TYPE_FLAG_GPU | ZE_INIT_DRIVER_TYPE_FLAG_NPU}}) {
    ze_init_driver_type_desc_t types{ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC, nullptr, flags};
    std::uint32_t count = 0;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeInitDrivers(&count, nullptr, &types));
    EXPECT_EQ(1U, count);
  }
  ze_init_driver_type_desc_t npus{ZE_STRUCTURE_TYPE_INIT_DRIVER_TYPE_DESC, nullptr,
                                  ZE_INIT_DRIVER_TYPE_FLAG_NPU};
  std::uint32_t count = 0;
  EXPECT_EQ(ZE_RESULT_ERROR_UNINITIALIZED, zeInitDrivers(&count, nullptr, &npus));
}

TEST_F(Compatibility, given_the_device_when_asked_then_core_and_management_say_gpu) {
  EXPECT_EQ(ZE_DEVICE_TYPE_GPU, type_of(device()));
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesInit(0));
  std::uint32_t count = 1;
  zes_driver_handle_t managed_driver = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDriverGet(&count, &managed_driver));
  count = 1;
  zes_device_handle_t managed = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceGet(managed_driver, &count, &managed));
  zes_device_ext_properties_t extension{};
  extension.stype = ZES_STRUCTURE_TYPE_DEVICE_EXT_PROPERTIES;
  zes_device_properties_t properties{};
  properties.stype = ZES_STRUCTURE_TYPE_DEVICE_PROPERTIES;
  properties.pNext = &extension;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zesDeviceGetProperties(managed, &properties));
  EXPECT_EQ(ZE_DEVICE_TYPE_GPU, properties.core.type);
  EXPECT_EQ(ZES_DEVICE_TYPE_GPU, extension.type);
}

TEST_F(Compatibility, given_the_queue_groups_when_asked_then_the_first_computes_and_the_second_only_copies) {
  const auto groups = queue_groups(device());
  ASSERT_EQ(2U, groups.size());
  EXPECT_EQ(ze_command_queue_group_property_flags_t{ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COMPUTE |
                                                    ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY},
            groups[0].flags);
  EXPECT_EQ(ze_command_queue_group_property_flags_t{ZE_COMMAND_QUEUE_GROUP_PROPERTY_FLAG_COPY},
            groups[1].flags);
  std::uint32_t one = 1;
  ze_command_queue_group_properties_t first{};
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetCommandQueueGroupProperties(device(), &one, &first));
  EXPECT_EQ(1U, one);
}

TEST_F(Compatibility,
       given_either_queue_group_when_used_then_copies_are_right_and_lists_stay_in_their_group) {
  const Bytes bytes = pattern(10'000, 91);
  const OwnedMemory block = memory(MemoryKind::device, bytes.size());
  const OwnedMemory host = memory(MemoryKind::host, bytes.size());
  std::array<OwnedQueue, 2> queues;
  std::array<OwnedList, 2> lists;
  for (std::uint32_t ordinal = 0; ordinal < 2; ++ordinal) {
    ze_command_queue_desc_t description{};
    description.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    description.ordinal = ordinal;
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandQueueCreate(context(), device(), &description, queues[ordinal].address()));
    const ze_command_list_desc_t of_list{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, ordinal, 0};
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListCreate(context(), device(), &of_list, lists[ordinal].address()));
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeCommandListAppendMemoryCopy(lists[ordinal], ordinal == 0 ? block.get() : host.get(),
                                            ordinal == 0 ? bytes.data() : block.bytes(), bytes.size(),
                                            nullptr, 0, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListClose(lists[ordinal]));
  }
  for (std::size_t ordinal = 0; ordinal < 2; ++ordinal) {
    ze_command_list_handle_t own = lists[ordinal];
    ze_command_list_handle_t other = lists[1 - ordinal];
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE,
              zeCommandQueueExecuteCommandLists(queues[ordinal], 1, &other, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueExecuteCommandLists(queues[ordinal], 1, &own, nullptr));
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueSynchronize(queues[ordinal], patience_ns));
  }
  EXPECT_TRUE(same_bytes(bytes, Bytes(host.bytes(), host.bytes() + bytes.size())));
  ze_command_queue_desc_t third{};
  third.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  third.ordinal = 2;
  OwnedQueue none;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT,
            zeCommandQueueCreate(context(), device(), &third, none.address()));
}

TEST_F(Compatibility, given_descriptors_of_zeros_when_created_then_they_are_taken_for_what_they_should_be) {
  const ze_context_desc_t of_context{};
  OwnedContext made;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeContextCreate(driver(), &of_context, made.address()));
  const ze_command_queue_desc_t of_queue{};
  OwnedQueue made_queue;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandQueueCreate(made, device(), &of_queue, made_queue.address()));
  const ze_fence_desc_t of_fence{};
  OwnedFence made_fence;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeFenceCreate(made_queue, &of_fence, made_fence.address()));
  const ze_command_list_desc_t of_list{};
  OwnedList made_list;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeCommandListCreate(made, device(), &of_list, made_list.address()));
  ze_event_pool_desc_t of_pool{};
  of_pool.count = 1;
  OwnedEventPool made_pool;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeEventPoolCreate(made, &of_pool, 0, nullptr, made_pool.address()));
  const ze_event_desc_t of_event{};
  OwnedEvent made_event;
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeEventCreate(made_pool, &of_event, made_event.address()));
  const ze_device_mem_alloc_desc_t on_device{};
  const ze_host_mem_alloc_desc_t on_host{};
  void* pointer = nullptr;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemAllocShared(made, &on_device, &on_host, 4096, 4096, device(), &pointer));
  EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemFree(made, pointer));
  ze_context_desc_t wrong{};
  wrong.stype = ZE_STRUCTURE_TYPE_FENCE_DESC;
  OwnedContext none;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeContextCreate(driver(), &wrong, none.address()))
      << "a type that is wrong stays wrong";
}

TEST_F(Compatibility, given_memory_of_other_contexts_when_copied_then_the_bytes_are_the_same) {
  const OwnedContext one = create_context(driver());
  const OwnedContext two = create_context(driver());
  const Bytes bytes = pattern(100'000, 93);
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::host, MemoryKind::shared}) {
    const OwnedMemory from = allocate(kind, one, device(), bytes.size());
    const OwnedMemory to = allocate(MemoryKind::device, two, device(), bytes.size());
    Bytes found(bytes.size());
    // Each of the copies is one of context(), which has none of the memory.
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy(from.get(), bytes.data(), bytes.size())) << name_of(kind);
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy(to.get(), from.get(), bytes.size())) << name_of(kind);
    ASSERT_EQ(ZE_RESULT_SUCCESS, copy(found.data(), to.get(), bytes.size())) << name_of(kind);
    EXPECT_TRUE(same_bytes(bytes, found)) << name_of(kind);
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, copy_code(to.get(), from.get(), bytes.size() + 1))
        << "bounds hold in every context";
  }
}

TEST_F(Compatibility, given_a_module_when_built_then_it_fails_with_a_sentence_though_a_version_is_named) {
  ze_device_module_properties_t properties{};
  properties.stype = ZE_STRUCTURE_TYPE_DEVICE_MODULE_PROPERTIES;
  ASSERT_EQ(ZE_RESULT_SUCCESS, zeDeviceGetModuleProperties(device(), &properties));
  EXPECT_NE(0U, properties.spirvVersionSupported);
  const std::array<std::uint8_t, 20> code{};
  ze_module_desc_t description{};
  description.stype = ZE_STRUCTURE_TYPE_MODULE_DESC;
  description.inputSize = code.size();
  description.pInputModule = code.data();
  ze_module_handle_t made = nullptr;
  ze_module_build_log_handle_t log = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_UNSUPPORTED_FEATURE,
            zeModuleCreate(context(), device(), &description, &made, &log));
  EXPECT_EQ(nullptr, made);
  EXPECT_EQ(nullptr, log);
  EXPECT_NE(std::string::npos, last_error_text().find("no compute units")) << last_error_text();
}

TEST_F(Compatibility, given_a_host_pointer_when_imported_then_its_base_is_found_until_it_is_released) {
  const auto import = extension<ImportFunction>(host_pointer_functions[0]);
  const auto release = extension<ReleaseFunction>(host_pointer_functions[1]);
  const auto base = extension<BaseFunction>(host_pointer_functions[2]);
  Bytes bytes = pattern(10'000, 92);
  void* found = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, base(driver(), bytes.data(), &found));
  ASSERT_EQ(ZE_RESULT_SUCCESS, import(driver(), bytes.data(), bytes.size()));
  EXPECT_EQ(ZE_RESULT_SUCCESS, base(driver(), bytes.data() + 9999, &found));
  EXPECT_EQ(bytes.data(), found);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, base(driver(), bytes.data() + 10'000, &found));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, import(driver(), bytes.data() + 100, 10)) << "it is there";
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, import(driver(), bytes.data() - 1, 2)) << "they overlap";
  const OwnedMemory block = memory(MemoryKind::device, bytes.size());
  ASSERT_EQ(ZE_RESULT_SUCCESS, copy(block.get(), bytes.data(), bytes.size()));
  EXPECT_TRUE(same_bytes(bytes, download(block.get(), bytes.size())));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, release(driver(), bytes.data() + 1));
  EXPECT_EQ(ZE_RESULT_SUCCESS, release(driver(), bytes.data()));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, release(driver(), bytes.data()));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, base(driver(), bytes.data(), &found));
}

TEST_F(Compatibility, given_arguments_that_make_no_sense_when_host_pointers_are_used_then_each_has_its_code) {
  const auto import = extension<ImportFunction>(host_pointer_functions[0]);
  const auto release = extension<ReleaseFunction>(host_pointer_functions[1]);
  const auto base = extension<BaseFunction>(host_pointer_functions[2]);
  char byte = 0;
  void* found = nullptr;
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, import(nullptr, &byte, 1));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, import(driver(), nullptr, 1));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, import(driver(), &byte, 0));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, import(driver(), &byte, ~std::size_t{0}));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, release(nullptr, &byte));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, release(driver(), nullptr));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_HANDLE, base(nullptr, &byte, &found));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_NULL_POINTER, base(driver(), &byte, nullptr));
  void* const gone = ::mmap(nullptr, 8192, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, gone);
  ASSERT_EQ(0, ::munmap(static_cast<char*>(gone) + 4096, 4096));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, import(driver(), gone, 8192)) << "half of it is not mapped";
  EXPECT_EQ(ZE_RESULT_SUCCESS, import(driver(), gone, 4096));
  EXPECT_EQ(ZE_RESULT_SUCCESS, release(driver(), gone));
  ASSERT_EQ(0, ::munmap(gone, 4096));
}

}  // namespace
}  // namespace datum::test
