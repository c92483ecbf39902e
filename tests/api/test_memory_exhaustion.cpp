// Memory of every kind used up: the named code, a sentence with size, limit and cure, and all goes on.
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <string>
#include <sys/mman.h>
#include <sys/resource.h>

#include <datum/base/mapping.hpp>

#include "tests/api/scenarios.hpp"
#include "tests/support/api_session.hpp"
#include "tests/support/child_process.hpp"

namespace datum::test {
namespace {

class MemoryExhaustion : public ::testing::Test {
 protected:
  static void run(const char* scenario, const std::string& boards) {
    if (sanitized()) {
      GTEST_SKIP() << "the sanitizer needs the memory for itself";
    }
    const ChildOutcome outcome =
        run_scenario_in_child(scenario, {{"DATUM_BOARDS", boards}}, std::chrono::seconds(60));
    EXPECT_TRUE(outcome.succeeded()) << outcome.describe();
  }
};

TEST_F(MemoryExhaustion, given_a_full_board_when_more_is_asked_for_then_it_is_out_and_all_goes_on) {
  run("device_memory_used_up", "model:memory=16M");
}

TEST_F(MemoryExhaustion,
       given_all_lockable_memory_used_when_more_is_asked_for_then_it_is_out_and_all_goes_on) {
  run("locked_memory_used_up", "model:memory=16M,locked=24M");
}

TEST_F(MemoryExhaustion, given_all_mappings_used_when_more_is_asked_for_then_it_is_out_and_all_goes_on) {
  run("mappings_used_up", "model:memory=16M,mappings=12");
}

TEST_F(MemoryExhaustion,
       given_a_limit_on_the_address_space_when_host_memory_runs_out_then_it_is_out_and_all_goes_on) {
  run("host_memory_under_address_limit", "model:memory=64M");
}

TEST_F(MemoryExhaustion,
       given_all_addresses_used_when_device_memory_is_asked_for_then_it_is_out_and_all_goes_on) {
  run("addresses_used_up", "model:memory=16G");
}

TEST_F(MemoryExhaustion,
       given_all_mappings_of_the_kernel_used_when_host_memory_is_asked_for_then_it_is_out_and_all_goes_on) {
  run("kernel_mappings_used_up", "model:memory=16M");
}

/// The sentence names everything that somebody needs to act on it.
bool says(std::initializer_list<const char*> pieces) {
  const std::string text = last_error_text();
  for (const char* piece : pieces) {
    if (text.find(piece) == std::string::npos) {
      std::fprintf(stderr, "\"%s\" is not in \"%s\"\n", piece, text.c_str());
      return false;
    }
  }
  return true;
}

/// A copy from one place to another through the board's memory.
bool copies(ze_context_handle_t context, ze_device_handle_t device, void* from, void* to) {
  write_pattern(from, 5000, 8);
  void* block = nullptr;
  if (allocate_raw(MemoryKind::device, context, device, 5000, 0, &block) != ZE_RESULT_SUCCESS) {
    std::fprintf(stderr, "no block: %s\n", last_error_text().c_str());
    return false;
  }
  const OwnedMemory owned(context, block);
  const OwnedList list = create_immediate_list(context, device, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
                                               ZE_COMMAND_QUEUE_FLAG_IN_ORDER);
  if (zeCommandListAppendMemoryCopy(list, block, from, 5000, nullptr, 0, nullptr) != ZE_RESULT_SUCCESS ||
      zeCommandListAppendMemoryCopy(list, to, block, 5000, nullptr, 0, nullptr) != ZE_RESULT_SUCCESS) {
    std::fprintf(stderr, "no copy: %s\n", last_error_text().c_str());
    return false;
  }
  return std::memcmp(from, to, 5000) == 0;
}

/// Ordinary memory there and back.
bool works(ze_context_handle_t context, ze_device_handle_t device) {
  Bytes in(5000);
  Bytes out(5000);
  return copies(context, device, in.data(), out.data());
}

/// Blocks until one is refused with `expected`; how many there were, or 0 where another code came.
std::size_t use_up(MemoryKind kind, ze_context_handle_t context, ze_device_handle_t device, std::size_t bytes,
                   ze_result_t expected, std::vector<OwnedMemory>& blocks) {
  for (;;) {
    void* pointer = nullptr;
    const ze_result_t code = allocate_raw(kind, context, device, bytes, 0, &pointer);
    if (code != ZE_RESULT_SUCCESS) {
      return expect_code(__LINE__, expected, code) && pointer == nullptr ? blocks.size() : 0;
    }
    blocks.emplace_back(context, pointer);
    if (host_accessible(kind)) {
      std::memset(pointer, 1, bytes);
    }
  }
}

}  // namespace

int scenario_device_memory_used_up() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const ze_device_handle_t device = session().devices.front();
  const OwnedContext context = create_context(session().driver);
  std::vector<OwnedMemory> blocks;
  for (const MemoryKind kind : {MemoryKind::device, MemoryKind::onchip}) {
    const std::size_t first =
        use_up(kind, context, device, 40'000, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, blocks);
    SCENARIO_REQUIRE(first != 0);
    SCENARIO_REQUIRE(says({"40000", "free"}));
    blocks.pop_back();
    blocks.clear();
    SCENARIO_REQUIRE(works(context, device));
    SCENARIO_EXPECT(first,
                    use_up(kind, context, device, 40'000, ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, blocks));
    blocks.clear();
  }
  return 0;
}

int scenario_locked_memory_used_up() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const ze_device_handle_t device = session().devices.front();
  const OwnedContext context = create_context(session().driver);
  std::vector<OwnedMemory> blocks;
  for (const MemoryKind kind : {MemoryKind::host, MemoryKind::shared}) {
    for (const std::size_t bytes : {std::size_t{3} << 20U, std::size_t{100'000}}) {
      const std::size_t first =
          use_up(kind, context, device, bytes, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, blocks);
      SCENARIO_REQUIRE(first != 0);
      SCENARIO_REQUIRE(says({"25165824", "limit", "locked"}));
      SCENARIO_REQUIRE(copies(context, device, blocks.front().get(), blocks.back().get()));
      blocks.clear();
      SCENARIO_REQUIRE(works(context, device));
      SCENARIO_EXPECT(first,
                      use_up(kind, context, device, bytes, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, blocks));
      blocks.clear();
    }
  }
  return 0;
}

int scenario_mappings_used_up() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const ze_device_handle_t device = session().devices.front();
  const OwnedContext context = create_context(session().driver);
  std::vector<OwnedMemory> blocks;
  const std::size_t large = std::size_t{2} << 20U;
  const std::size_t first =
      use_up(MemoryKind::host, context, device, large, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, blocks);
  SCENARIO_REQUIRE(first != 0 && first < 12);
  SCENARIO_REQUIRE(says({"12", "limit", "mappings"}));
  SCENARIO_REQUIRE(works(context, device));
  blocks.pop_back();
  SCENARIO_EXPECT(1, use_up(MemoryKind::host, context, device, large, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                            blocks) == first);
  blocks.clear();
  for (int i = 0; i < 1000; ++i) {
    void* pointer = nullptr;
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, allocate_raw(MemoryKind::host, context, device, 4096, 0, &pointer));
    blocks.emplace_back(context.get(), pointer);
  }
  return 0;
}

int scenario_kernel_mappings_used_up() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const ze_device_handle_t device = session().devices.front();
  const OwnedContext context = create_context(session().driver);
  const OwnedMemory shared = allocate(MemoryKind::host, context, device, 3U << 20U);
  ze_ipc_mem_handle_t handle{};
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemGetIpcHandle(context, shared.get(), &handle));
  // Every second page is another mapping.
  constexpr std::size_t pages = std::size_t{1} << 18U;
  Mapping area(::mmap(nullptr, pages * 4096, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0),
               pages * 4096);
  std::size_t at = 0;
  while (at < pages && ::mprotect(area.data() + at * 4096, 4096, PROT_READ) == 0) {
    at += 2;
  }
  SCENARIO_REQUIRE(at < pages);
  void* pointer = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                  allocate_raw(MemoryKind::host, context, device, 4U << 20U, 0, &pointer));
  SCENARIO_REQUIRE(pointer == nullptr && says({"4194304", "limit", "mappings", "vm.max_map_count"}));
  SCENARIO_EXPECT(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                  zeMemOpenIpcHandle(context, device, handle, 0, &pointer));
  SCENARIO_REQUIRE(pointer == nullptr && says({"3145728", "limit", "mappings", "vm.max_map_count"}));
  SCENARIO_REQUIRE(copies(context, device, shared.get(), shared.bytes() + 8192));
  area = Mapping{};
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemOpenIpcHandle(context, device, handle, 0, &pointer));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemCloseIpcHandle(context, pointer));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, allocate_raw(MemoryKind::host, context, device, 4U << 20U, 0, &pointer));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemFree(context, pointer));
  SCENARIO_REQUIRE(works(context, device));
  return 0;
}

int scenario_host_memory_under_address_limit() {
  const rlimit limit{rlim_t{3} << 28U, rlim_t{3} << 28U};
  SCENARIO_REQUIRE(::setrlimit(RLIMIT_AS, &limit) == 0);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const ze_device_handle_t device = session().devices.front();
  const OwnedContext context = create_context(session().driver);
  constexpr std::size_t bytes = 16U << 20U;
  for (const MemoryKind kind : {MemoryKind::host, MemoryKind::shared}) {
    std::vector<OwnedMemory> blocks;
    const std::size_t first =
        use_up(kind, context, device, bytes, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, blocks);
    SCENARIO_REQUIRE(first != 0 && first < 400);
    SCENARIO_REQUIRE(says({"16777216", "limit of address space", "805306368", "ulimit -v"}));
    blocks.pop_back();
    SCENARIO_REQUIRE(works(context, device));
    SCENARIO_EXPECT(1, use_up(kind, context, device, bytes, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, blocks) ==
                           first);
  }
  return 0;
}

int scenario_addresses_used_up() {
  // The simulated memory itself takes 16 GiB of it.
  const rlimit limit{rlim_t{22} << 30U, rlim_t{22} << 30U};
  SCENARIO_REQUIRE(::setrlimit(RLIMIT_AS, &limit) == 0);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const ze_device_handle_t device = session().devices.front();
  const OwnedContext context = create_context(session().driver);
  std::vector<OwnedMemory> blocks;
  const std::size_t bytes = std::size_t{256} << 20U;
  const std::size_t first =
      use_up(MemoryKind::device, context, device, bytes, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, blocks);
  SCENARIO_REQUIRE(first != 0);
  SCENARIO_REQUIRE(says({"268435456", "limit of address space", "23622320128", "ulimit -v"}));
  blocks.pop_back();
  SCENARIO_REQUIRE(works(context, device));
  SCENARIO_EXPECT(1, use_up(MemoryKind::device, context, device, bytes, ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                            blocks) == first);
  blocks.clear();
  SCENARIO_REQUIRE(works(context, device));
  return 0;
}

}  // namespace datum::test
