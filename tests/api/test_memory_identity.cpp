// What is said of memory of every origin: allocated, opened, imported, mapped, the process's own. And what it
// costs to say it.
#include <cstddef>
#include <cstring>
#include <linux/filter.h>
#include <linux/seccomp.h>
#include <set>
#include <sys/prctl.h>
#include <sys/syscall.h>
#include <unistd.h>

#include "tests/api/external_memory_test.hpp"
#include "tests/api/scenarios.hpp"
#include "tests/api/virtual_memory_test.hpp"
#include "tests/support/child_process.hpp"

namespace datum::test {
namespace {

/// Memory of each origin that is no plain allocation, 2 pages each. Given back in the order of need.
class MemoryIdentity : public VirtualTest {
 protected:
  struct Memory {
    const char* origin;
    const unsigned char* first;
  };

  void SetUp() override {
    VirtualTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    const ze_external_memory_export_desc_t to_export{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_EXPORT_DESC, nullptr,
                                                     opaque_fd};
    for (const MemoryKind kind : {MemoryKind::device, MemoryKind::host}) {
      void* pointer = nullptr;
      ASSERT_EQ(ZE_RESULT_SUCCESS, allocate_with(kind, context(), device(), &to_export, 2 * page, &pointer));
      made_.emplace_back(context(), pointer);
      ze_ipc_mem_handle_t handle{};
      ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(context(), pointer, &handle));
      ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(context(), device(), handle, 0, &pointer));
      opened_.push_back(pointer);
      std::int32_t fd = -1;
      std::memcpy(&fd, handle.data, sizeof fd);
      ASSERT_EQ(ZE_RESULT_SUCCESS, import_raw(kind, context(), device(), fd, 2 * page, &pointer));
      made_.emplace_back(context(), pointer);
      objects_.push_back(physical(2 * page, kind == MemoryKind::host ? in_host : 0));
    }
    range_ = reserve(4 * page);
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(range_.at(), 2 * page, objects_[0]));
    ASSERT_EQ(ZE_RESULT_SUCCESS, map(range_.at(2 * page), 2 * page, objects_[1]));
  }

  void TearDown() override {
    for (void* pointer : opened_) {
      EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context(), pointer));
    }
    EXPECT_EQ(ZE_RESULT_SUCCESS, range_.free());
    objects_.clear();
    made_.clear();
    VirtualTest::TearDown();
  }

  [[nodiscard]] std::vector<Memory> all() const {
    return {{"device memory for export", made_[0].bytes()},
            {"imported device memory", made_[1].bytes()},
            {"host memory for export", made_[2].bytes()},
            {"imported host memory", made_[3].bytes()},
            {"opened device memory", static_cast<const unsigned char*>(opened_[0])},
            {"opened host memory", static_cast<const unsigned char*>(opened_[1])},
            {"mapped device memory", range_.at()},
            {"mapped host memory", range_.at(2 * page)}};
  }

  [[nodiscard]] std::uint64_t id_of(const void* pointer) const {
    ze_memory_allocation_properties_t found{};
    found.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemGetAllocProperties(context(), pointer, &found, nullptr));
    EXPECT_NE(ZE_MEMORY_TYPE_UNKNOWN, found.type);
    return found.id;
  }

  std::vector<OwnedMemory> made_;
  std::vector<void*> opened_;
  std::vector<OwnedPhysical> objects_;
  OwnedReservation range_;
};

TEST_F(MemoryIdentity, given_memory_of_every_origin_when_asked_then_no_two_have_one_identifier) {
  std::set<std::uint64_t> seen;
  for (int round = 0; round < 3; ++round) {
    for (const Memory& memory : all()) {
      EXPECT_EQ(id_of(memory.first), id_of(memory.first + 2 * page - 1)) << memory.origin;
      EXPECT_TRUE(seen.insert(id_of(memory.first)).second) << memory.origin << ", round " << round;
    }
    for (const OwnedPhysical& object : objects_) {
      ze_physical_mem_properties_t properties{};
      properties.stype = ZE_STRUCTURE_TYPE_PHYSICAL_MEM_PROPERTIES;
      ASSERT_EQ(ZE_RESULT_SUCCESS, zePhysicalMemGetProperties(context(), object, &properties));
      EXPECT_TRUE(seen.insert(properties.id).second) << "round " << round;
    }
    TearDown();
    made_.clear();
    opened_.clear();
    SetUp();  // everything once more, at addresses that were used before
  }
}

TEST_F(MemoryIdentity, given_memory_of_every_origin_when_asked_for_its_parts_then_it_is_its_own_only_part) {
  for (const Memory& memory : all()) {
    std::uint32_t count = 3;
    ze_sub_allocation_t parts[3]{};
    ze_memory_sub_allocations_exp_properties_t asked{ZE_STRUCTURE_TYPE_MEMORY_SUB_ALLOCATIONS_EXP_PROPERTIES,
                                                     nullptr, &count, parts};
    ze_memory_allocation_properties_t properties{};
    properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
    properties.pNext = &asked;
    ASSERT_EQ(ZE_RESULT_SUCCESS,
              zeMemGetAllocProperties(context(), memory.first + page, &properties, nullptr));
    EXPECT_EQ(1U, count) << memory.origin;
    EXPECT_EQ(memory.first, parts[0].base) << memory.origin;
    EXPECT_EQ(2 * page, parts[0].size) << memory.origin;
    EXPECT_EQ(nullptr, parts[1].base);
  }
}

TEST_F(MemoryIdentity, given_an_alignment_when_a_descriptor_is_imported_then_the_pointer_has_it) {
  ze_ipc_mem_handle_t handle{};
  for (const std::size_t alignment : {std::size_t{1}, page, std::size_t{1} << 16U, std::size_t{1} << 21U}) {
    for (const bool host : {false, true}) {
      ASSERT_EQ(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(context(), made_[host ? 2 : 0].get(), &handle));
      std::int32_t fd = -1;
      std::memcpy(&fd, handle.data, sizeof fd);
      const ze_external_memory_import_fd_t wanted{ZE_STRUCTURE_TYPE_EXTERNAL_MEMORY_IMPORT_FD, nullptr,
                                                  opaque_fd, fd};
      const ze_host_mem_alloc_desc_t on_host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, &wanted, 0};
      const ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, &wanted, 0, 0};
      void* pointer = nullptr;
      EXPECT_EQ(ZE_RESULT_SUCCESS,
                host ? zeMemAllocHost(context(), &on_host, page, alignment, &pointer)
                     : zeMemAllocDevice(context(), &on_device, page, alignment, device(), &pointer));
      const OwnedMemory taken(context(), pointer);
      EXPECT_EQ(0U, reinterpret_cast<std::uintptr_t>(pointer) % alignment);
      EXPECT_EQ(ZE_RESULT_SUCCESS, zeMemPutIpcHandle(context(), handle));
    }
  }
}

TEST_F(MemoryIdentity,
       given_memory_in_use_when_allocated_freed_and_asked_about_then_the_kernel_is_not_called) {
  if (sanitized() || mode() != Mode::single) {
    GTEST_SKIP() << "what stands between may call the kernel itself";
  }
  const ChildOutcome outcome = run_scenario_in_child("memory_without_kernel_calls", {});
  EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
}

/// From here on a call of the kernel by this thread ends the process, but for a last word and the end.
bool forbid_kernel_calls() {
  sock_filter steps[] = {
      BPF_STMT(BPF_LD | BPF_W | BPF_ABS, offsetof(seccomp_data, nr)),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_write, 1, 0),
      BPF_JUMP(BPF_JMP | BPF_JEQ | BPF_K, SYS_exit_group, 0, 1),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_ALLOW),
      BPF_STMT(BPF_RET | BPF_K, SECCOMP_RET_KILL_PROCESS),
  };
  const sock_fprog program{sizeof steps / sizeof *steps, steps};
  return ::prctl(PR_SET_NO_NEW_PRIVS, 1, 0, 0, 0) == 0 &&
         ::prctl(PR_SET_SECCOMP, SECCOMP_MODE_FILTER, &program) == 0;
}

}  // namespace

int scenario_memory_without_kernel_calls() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const ze_device_handle_t device = session().devices.front();
  const OwnedContext context = create_context(session().driver);
  const auto use = [&] {
    ze_result_t first = ZE_RESULT_SUCCESS;
    const auto note = [&first](ze_result_t code) { first = first == ZE_RESULT_SUCCESS ? code : first; };
    for (const MemoryKind kind : all_memory_kinds) {
      for (const std::size_t bytes : {std::size_t{64}, std::size_t{4096}, std::size_t{70'000}}) {
        void* pointer = nullptr;
        ze_memory_allocation_properties_t properties{};
        properties.stype = ZE_STRUCTURE_TYPE_MEMORY_ALLOCATION_PROPERTIES;
        note(allocate_raw(kind, context, device, bytes, 0, &pointer));
        note(zeMemGetAllocProperties(context, pointer, &properties, nullptr));
        note(zeMemGetAddressRange(context, pointer, &pointer, nullptr));
        note(zeMemFree(context, pointer));
      }
    }
    return first;
  };
  for (int round = 0; round < 50; ++round) {
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, use());
  }
  SCENARIO_REQUIRE(forbid_kernel_calls());
  for (int round = 0; round < 50; ++round) {
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, use());
  }
  ::_exit(0);
}

}  // namespace datum::test
