// The functions of the memory chapter that share memory or describe it, from many threads at once.
#include <algorithm>
#include <cstring>
#include <set>

#include "tests/api/external_memory_test.hpp"
#include "tests/api/virtual_memory_test.hpp"
#include "tests/support/in_threads.hpp"
#include "tests/support/process_resources.hpp"

namespace datum::test {
namespace {

constexpr unsigned sharing_threads = 6;

class SharingThreads : public VirtualTest {
 protected:
  /// A call that failed, in words; empty: it did not.
  [[nodiscard]] static std::string failed(const char* call, ze_result_t code) {
    return code == ZE_RESULT_SUCCESS ? "" : call + (": " + result_text(code)) + ": " + last_error_text();
  }

  /// What is written at `one` stands at `other`.
  [[nodiscard]] static std::string same_memory(ze_command_list_handle_t list, void* one, const void* other,
                                               std::size_t bytes, std::uint64_t seed) {
    const Bytes in = pattern(bytes, seed);
    Bytes out(bytes);
    std::string failure =
        failed("write", zeCommandListAppendMemoryCopy(list, one, in.data(), bytes, nullptr, 0, nullptr));
    if (failure.empty()) {
      failure =
          failed("read", zeCommandListAppendMemoryCopy(list, out.data(), other, bytes, nullptr, 0, nullptr));
    }
    return failure.empty() && in != out ? "other bytes came back" : failure;
  }

  [[nodiscard]] OwnedList own_list() const {
    return create_immediate_list(context(), device(), ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
                                 ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  }

  /// The first of the steps that fails; the others are left out.
  template <class... Steps>
  [[nodiscard]] static std::string first_failure(Steps&&... steps) {
    std::string failure;
    static_cast<void>(((failure = steps(), failure.empty()) && ...));
    return failure;
  }

  /// Export, import, both conversions of the descriptor, opening and putting of one allocation.
  [[nodiscard]] std::string share_allocation(ze_command_list_handle_t list, MemoryKind kind,
                                             std::uint64_t seed) const {
    const ze_external_memory_export_desc_t wanted{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                                  opaque_fd};
    ze_external_memory_export_fd_t asked{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr, opaque_fd, -1};
    ze_memory_allocation_properties_t properties{ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES, &asked,
                                                 ZE_MEMORY_TYPE_UNKNOWN, 0, 0};
    void* pointer = nullptr;
    void* taken = nullptr;
    void* opened = nullptr;
    std::uint64_t fd = 0;
    ze_ipc_mem_handle_t handle{};
    std::string failure = first_failure(
        [&] {
          return failed("export", allocate_with(kind, context(), device(), &wanted, 2 * page, &pointer));
        },
        [&] { return failed("query", zeMemGetAllocProperties(context(), pointer, &properties, nullptr)); },
        [&] { return failed("import", import_raw(kind, context(), device(), asked.fd, 2 * page, &taken)); },
        [&] { return same_memory(list, taken, pointer, 2 * page, seed); },
        [&] {
          return failed("handle of descriptor",
                        zeMemGetIpcHandleFromFileDescriptorExp(
                            context(), static_cast<std::uint64_t>(asked.fd), &handle));
        },
        [&] {
          return failed("descriptor of handle",
                        zeMemGetFileDescriptorFromIpcHandleExp(context(), handle, &fd));
        },
        [&] { return fd == static_cast<std::uint64_t>(asked.fd) ? "" : std::string("another descriptor"); },
        [&] { return failed("open", zeMemOpenIpcHandle(context(), device(), handle, 0, &opened)); },
        [&] { return same_memory(list, opened, taken, 2 * page, seed + 1); },
        [&] { return failed("close", zeMemCloseIpcHandle(context(), opened)); },
        [&] { return failed("put", zeMemPutIpcHandle(context(), handle)); });
    const OwnedMemory block(context(), pointer);
    const OwnedMemory import(context(), taken);
    return failure;
  }

  [[nodiscard]] OwnedPhysical make_object(const void* next, ze_physical_mem_flags_t flags) const {
    ze_physical_mem_desc_t wanted{ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, next, flags, 2 * page};
    ze_physical_mem_handle_t handle = nullptr;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemCreate(context(), device(), &wanted, &handle))
        << last_error_text();
    return {context(), handle};
  }

  /// The same of a physical memory object, mapped beside its import.
  [[nodiscard]] std::string share_object(ze_command_list_handle_t list, ze_physical_mem_flags_t flags,
                                         std::uint64_t seed) const {
    const ze_external_memory_export_desc_t to_export{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                                     opaque_fd};
    const OwnedPhysical made = make_object(&to_export, flags);
    ze_external_memory_export_fd_t asked{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_FD, nullptr, opaque_fd, -1};
    ze_physical_mem_properties_t properties{ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES, &asked, 0, 0};
    if (std::string failure = failed("properties", zePhysicalMemGetProperties(context(), made, &properties));
        !failure.empty()) {
      return failure;
    }
    const ze_external_memory_import_fd_t to_import{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, nullptr,
                                                   opaque_fd, asked.fd};
    const OwnedPhysical taken = make_object(&to_import, flags);
    const OwnedReservation range = reserve(4 * page);
    std::size_t page_size = 0;
    ze_ipc_mem_handle_t handle{};
    void* opened = nullptr;
    return first_failure(
        [&] {
          return failed("page size", zeVirtualMemQueryPageSize(context(), device(), 4 * page, &page_size));
        },
        [&] { return failed("map", map(range.at(), 2 * page, made)); },
        [&] { return failed("map import", map(range.at(2 * page), 2 * page, taken)); },
        [&] { return same_memory(list, range.at(), range.at(2 * page), 2 * page, seed); },
        [&] {
          return failed("handle", zeMemGetIpcHandleWithProperties(context(), range.at(), nullptr, &handle));
        },
        [&] { return failed("open", zeMemOpenIpcHandle(context(), device(), handle, 0, &opened)); },
        [&] { return same_memory(list, opened, range.at(), 2 * page, seed + 1); },
        [&] { return failed("close", zeMemCloseIpcHandle(context(), opened)); },
        [&] { return failed("put", zeMemPutIpcHandle(context(), handle)); },
        [&] { return failed("unmap", unmap(range.at(), 4 * page)); });
  }
};

TEST_F(SharingThreads, given_many_threads_when_each_exports_and_imports_allocations_then_each_has_its_bytes) {
  { const std::string warm = share_allocation(own_list(), MemoryKind::host, 1); }  // what starts stays
  const std::size_t before = open_descriptors();
  in_threads(sharing_threads, [&](unsigned index) -> std::string {
    const OwnedList list = own_list();
    for (unsigned round = 0; round < by_board(20U, 2U); ++round) {
      for (const MemoryKind kind : {MemoryKind::device, MemoryKind::host}) {
        if (std::string failure = share_allocation(list, kind, 1000 * index + 2 * round); !failure.empty()) {
          return std::string(name_of(kind)) + ", " + failure;
        }
      }
    }
    return {};
  });
  EXPECT_LE(open_descriptors(), before + 2 * sharing_threads)
      << "no more than the queues of the threads keep";
}

TEST_F(SharingThreads, given_many_threads_when_each_shares_physical_objects_then_each_has_its_bytes) {
  in_threads(sharing_threads, [&](unsigned index) -> std::string {
    const OwnedList list = own_list();
    for (unsigned round = 0; round < by_board(15U, 1U); ++round) {
      for (const ze_physical_mem_flags_t flags : {ze_physical_mem_flags_t{0}, in_host}) {
        if (std::string failure = share_object(list, flags, 1000 * index + 2 * round); !failure.empty()) {
          return failure;
        }
      }
    }
    return {};
  });
}

TEST_F(SharingThreads, given_many_threads_that_hold_thousands_of_handles_and_openings_then_all_are_unique) {
  constexpr unsigned most = 250;
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::host}) {
    const OwnedMemory block = memory(kind, page);
    ze_ipc_mem_handle_t first{};
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(context(), block.get(), &first));
    const std::size_t before = open_descriptors();
    std::mutex lock;
    std::set<void*> pointers;
    std::size_t most_descriptors = 0;
    in_threads(sharing_threads, [&](unsigned) -> std::string {
      std::vector<void*> own;
      std::string failure;
      for (unsigned count = 0; count < by_board(most, most / 25) && failure.empty(); ++count) {
        ze_ipc_mem_handle_t handle{};
        void* pointer = nullptr;
        failure = first_failure(
            [&] { return failed("get", zeMemGetIpcHandle(context(), block.get(), &handle)); },
            [&] {
              const bool same = std::memcmp(&handle, &first, sizeof handle) == 0;
              return same ? "" : std::string("another handle");
            },
            [&] { return failed("open", zeMemOpenIpcHandle(context(), device(), handle, 0, &pointer)); });
        own.push_back(pointer);
      }
      {
        const std::scoped_lock guard(lock);
        pointers.insert(own.begin(), own.end());
        most_descriptors = std::max(most_descriptors, open_descriptors());
      }
      for (void* pointer : own) {
        if (failure.empty()) {
          failure = first_failure([&] { return failed("close", zeMemCloseIpcHandle(context(), pointer)); },
                                  [&] { return failed("put", zeMemPutIpcHandle(context(), first)); });
        }
      }
      return failure;
    });
    EXPECT_GE(pointers.size(), by_board<std::size_t>(most, most / 25))
        << "those of one thread at least live at one time";
    EXPECT_LE(most_descriptors, before + sharing_threads) << "openings and handles keep none";
    EXPECT_EQ(before, open_descriptors());
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), first));
    EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, zeMemPutIpcHandle(context(), first)) << "all are back";
  }
}

/// Everything that the chapter says of driver and device, as bytes.
Bytes all_properties(ze_driver_handle_t driver, ze_device_handle_t device) {
  Bytes all;
  const auto add = [&all](const auto& structure) {
    const auto* const first = reinterpret_cast<const unsigned char*>(&structure);
    all.insert(all.end(), first, first + sizeof structure);
  };
  ze_driver_memory_free_ext_properties_t policies{};
  policies.stype = ZE_STRUCTURE_TYPE_DRIVER_MEMORY_FREE_EXT_PROPERTIES;
  ze_driver_properties_t of_driver{};
  of_driver.stype = ZE_STRUCTURE_TYPE_DRIVER_PROPERTIES;
  of_driver.pNext = &policies;
  ze_driver_ipc_properties_t of_ipc{};
  of_ipc.stype = ZE_STRUCTURE_TYPE_DRIVER_IPC_PROPERTIES;
  ze_device_memory_properties_t memories[2]{};
  memories[0].stype = memories[1].stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_PROPERTIES;
  ze_device_memory_access_properties_t access{};
  access.stype = ZE_STRUCTURE_TYPE_DEVICE_MEMORY_ACCESS_PROPERTIES;
  ze_device_external_memory_properties_t external{};
  external.stype = ZE_STRUCTURE_TYPE_DEVICE_EXTERNAL_MEMORY_PROPERTIES;
  ze_device_p2p_properties_t peer{};
  peer.stype = ZE_STRUCTURE_TYPE_DEVICE_P2P_PROPERTIES;
  std::uint32_t memory_count = 2;
  std::uint32_t cache_count = 0;
  ze_bool_t peers = 0;
  const ze_result_t codes[] = {zeDriverGetProperties(driver, &of_driver),
                               zeDriverGetIpcProperties(driver, &of_ipc),
                               zeDeviceGetMemoryProperties(device, &memory_count, memories),
                               zeDeviceGetMemoryAccessProperties(device, &access),
                               zeDeviceGetCacheProperties(device, &cache_count, nullptr),
                               zeDeviceGetExternalMemoryProperties(device, &external),
                               zeDeviceGetP2PProperties(device, device, &peer),
                               zeDeviceCanAccessPeer(device, device, &peers)};
  of_driver.pNext = nullptr;  // an address of this thread's
  add(codes);
  add(of_driver);
  add(policies);
  add(of_ipc);
  add(memories);
  add(access);
  add(external);
  add(peer);
  add(memory_count);
  add(cache_count);
  add(peers);
  return all;
}

TEST_F(SharingThreads, given_many_threads_when_all_ask_for_every_property_then_each_gets_the_same_answer) {
  const Bytes expected = all_properties(driver(), device());
  in_threads(sharing_threads, [&](unsigned index) -> std::string {
    for (unsigned round = 0; round < by_board(200U, 20U); ++round) {
      if (all_properties(driver(), device()) != expected) {
        return "another answer";
      }
      const std::size_t width = 1 + 100 * index + round;
      std::size_t pitch = 0;
      if (std::string failure =
              failed("pitch", zeMemGetPitchFor2dImage(context(), device(), width, 3, 4, &pitch));
          !failure.empty() || pitch < 4 * width || pitch >= 4 * width + 64) {
        return "pitch of " + std::to_string(width) + ": " + std::to_string(pitch) + failure;
      }
    }
    return {};
  });
}

}  // namespace
}  // namespace datum::test
