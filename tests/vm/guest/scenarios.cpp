#include "tests/vm/guest/scenarios.hpp"

#include <algorithm>
#include <array>
#include <cstdio>
#include <cstring>
#include <iostream>
#include <string>
#include <sys/mman.h>
#include <sys/wait.h>
#include <unistd.h>
#include <vector>

#include "tests/support/api_session.hpp"
#include "tests/support/child_process.hpp"

namespace datum::test {

namespace {

constexpr std::size_t mib = 1U << 20U;

void say(const std::string& line) {
  std::printf("%s\n", line.c_str());
  std::fflush(stdout);
}

/// Until the test says so.
void stay() {
  std::string line;
  std::getline(std::cin, line);
}

bool says(std::initializer_list<const char*> pieces) {
  const std::string text = last_error_text();
  const auto missing =
      std::ranges::find_if(pieces, [&](const char* piece) { return text.find(piece) == std::string::npos; });
  if (missing != pieces.end()) {
    std::fprintf(stderr, "\"%s\" is not in \"%s\"\n", *missing, text.c_str());
  }
  return missing == pieces.end();
}

/// The first device, with a queue whose copies are waited for.
struct World {
  ze_device_handle_t device = session().devices.front();
  OwnedContext context = create_context(session().driver);
  OwnedList list = create_immediate_list(context, device, ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS,
                                         ZE_COMMAND_QUEUE_FLAG_IN_ORDER);

  [[nodiscard]] ze_result_t copy(void* to, const void* from, std::size_t bytes) const {
    return zeCommandListAppendMemoryCopy(list, to, from, bytes, nullptr, 0, nullptr);
  }

  /// Null where it is refused.
  [[nodiscard]] OwnedMemory host(std::size_t bytes) const {
    void* pointer = nullptr;
    allocate_raw(MemoryKind::host, context, device, bytes, 0, &pointer);
    return {context, pointer};
  }

  /// Through the board's memory and back, from and to `bytes` of any kind.
  [[nodiscard]] bool copies(void* from, void* to, std::size_t bytes) const {
    write_pattern(from, bytes, 8);
    const OwnedMemory block = allocate(MemoryKind::device, context, device, bytes);
    const bool copied = copy(block.get(), from, bytes) == ZE_RESULT_SUCCESS &&
                        copy(to, block.get(), bytes) == ZE_RESULT_SUCCESS;
    if (!copied) {
      std::fprintf(stderr, "no copy: %s\n", last_error_text().c_str());
    }
    return copied && std::memcmp(from, to, bytes) == 0;
  }
};

}  // namespace

int scenario_hold() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  say("ready");
  stay();
  return 0;
}

int scenario_hold_host_memory() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world;
  const OwnedMemory held = world.host(4 * mib);
  SCENARIO_REQUIRE(held.get() != nullptr);
  say("ready");
  stay();
  return 0;
}

int scenario_copy() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world;
  std::vector<unsigned char> from(100'000);
  std::vector<unsigned char> to(from.size());
  SCENARIO_REQUIRE(world.copies(from.data(), to.data(), from.size()));
  return 0;
}

int scenario_copy_until_lost() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  {
    const World world;
    const OwnedMemory from = world.host(mib);
    const OwnedMemory to = allocate(MemoryKind::device, world.context, world.device, mib);
    SCENARIO_EXPECT(ZE_RESULT_SUCCESS, world.copy(to.get(), from.get(), mib));
    say("ready");
    ze_result_t code = ZE_RESULT_SUCCESS;
    while (code == ZE_RESULT_SUCCESS) {
      code = world.copy(to.get(), from.get(), mib);
    }
    std::array<char, 16> number{};
    std::snprintf(number.data(), number.size(), "%08x ", static_cast<unsigned>(code));
    say(number.data() + last_error_text());
    stay();
    SCENARIO_EXPECT(ZE_RESULT_ERROR_DEVICE_LOST, zeDeviceGetStatus(world.device));
    SCENARIO_EXPECT(ZE_RESULT_ERROR_DEVICE_LOST, world.copy(to.get(), from.get(), mib));
  }
  say("freed");
  return 0;
}

int scenario_copy_for_ever() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world;
  const OwnedMemory to = world.host(32 * mib);
  const OwnedMemory from = allocate(MemoryKind::device, world.context, world.device, 32 * mib);
  SCENARIO_REQUIRE(to.get() != nullptr && from.get() != nullptr);
  say("ready");
  while (world.copy(to.get(), from.get(), 32 * mib) == ZE_RESULT_SUCCESS) {
  }
  std::fprintf(stderr, "no copy: %s\n", last_error_text().c_str());
  return 1;
}

int scenario_copy_until_gone() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world;
  const OwnedMemory to = world.host(mib);
  const OwnedMemory from = allocate(MemoryKind::device, world.context, world.device, mib);
  SCENARIO_REQUIRE(to.get() != nullptr && from.get() != nullptr);
  say("ready");
  ze_result_t answer = ZE_RESULT_SUCCESS;
  while (answer == ZE_RESULT_SUCCESS) {
    answer = world.copy(to.get(), from.get(), mib);
  }
  SCENARIO_EXPECT(ZE_RESULT_ERROR_DEVICE_LOST, answer);
  say(last_error_text());
  SCENARIO_EXPECT(ZE_RESULT_ERROR_DEVICE_LOST, zeDeviceGetStatus(world.device));
  return 0;
}

int scenario_copy_after_another() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world;
  // As much as the one before had, so that the pages it had are likely among these.
  const OwnedMemory mine = world.host(32 * mib);
  SCENARIO_REQUIRE(mine.get() != nullptr);
  std::memset(mine.get(), 0x5a, 32 * mib);
  std::vector<unsigned char> from(mib);
  std::vector<unsigned char> to(from.size());
  for (int round = 0; round < 5; ++round) {
    SCENARIO_REQUIRE(world.copies(from.data(), to.data(), from.size()));
  }
  SCENARIO_REQUIRE(
      std::all_of(mine.bytes(), mine.bytes() + 32 * mib, [](unsigned char byte) { return byte == 0x5a; }));
  return 0;
}

int scenario_locked_memory_used_up() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world;
  const OwnedMemory small = world.host(4 * mib);
  SCENARIO_REQUIRE(small.get() != nullptr);
  void* large = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY,
                  allocate_raw(MemoryKind::host, world.context, world.device, 16 * mib, 0, &large));
  SCENARIO_REQUIRE(large == nullptr);
  SCENARIO_REQUIRE(says({"RLIMIT_MEMLOCK", "8 MiB", "16777216"}));
  SCENARIO_REQUIRE(world.copies(small.get(), small.bytes() + mib, 100'000));
  std::vector<unsigned char> from(3 * mib);
  std::vector<unsigned char> to(from.size());
  SCENARIO_REQUIRE(world.copies(from.data(), to.data(), from.size()));
  return 0;
}

int scenario_six_mib_of_host_memory() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world;
  say(world.host(6 * mib).get() != nullptr ? "given" : last_error_text());
  return 0;
}

int scenario_mappings_used_up() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world;
  std::vector<OwnedMemory> small;
  for (int block = 0; block < 1000; ++block) {
    small.push_back(world.host(4096));
    SCENARIO_REQUIRE(small.back().get() != nullptr);
  }
  std::vector<OwnedMemory> large;
  do {
    large.push_back(world.host(4 * mib));
    SCENARIO_REQUIRE(large.size() < 40);
  } while (large.back().get() != nullptr);
  SCENARIO_REQUIRE(says({"32", "dma_entry_limit"}));
  large.pop_back();
  SCENARIO_REQUIRE(!large.empty());
  large.pop_back();
  SCENARIO_REQUIRE(world.host(4 * mib).get() != nullptr);
  SCENARIO_REQUIRE(world.copies(small.front().get(), small.back().get(), 4096));
  return 0;
}

int scenario_fork_with_imported_memory() {
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, session().result);
  const World world;
  constexpr std::size_t bytes = 64U << 10U;
  void* const base = ::mmap(nullptr, 3 * bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  SCENARIO_REQUIRE(base != MAP_FAILED);
  auto* const memory = static_cast<unsigned char*>(base) + bytes;
  std::memset(base, 1, 3 * bytes);
  const ze_external_memmap_sysmem_ext_desc_t system{ZE_STRUCTURE_TYPE_EXTERNAL_MEMMAP_SYSMEM_EXT_DESC,
                                                    nullptr, memory, bytes};
  const ze_host_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, &system, 0};
  void* imported = nullptr;
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, zeMemAllocHost(world.context, &description, bytes, 0, &imported));
  const OwnedMemory pinned(world.context, imported);
  SCENARIO_REQUIRE(imported == memory);
  const OwnedMemory block = allocate(MemoryKind::device, world.context, world.device, bytes);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, world.copy(block.get(), memory, bytes));
  const pid_t child = ::fork();
  if (child == 0) {
    std::memset(base, 2, 3 * bytes);  // its own copy, the pinned pages and what lies beside them
    stay();
    ::_exit(static_cast<unsigned char*>(base)[0] == 2 && memory[bytes - 1] == 2 ? 0 : 1);
  }
  std::memset(memory, 3, bytes);
  const OwnedMemory seen = world.host(bytes);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, world.copy(block.get(), memory, bytes));
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, world.copy(seen.get(), block.get(), bytes));
  SCENARIO_REQUIRE(
      std::all_of(seen.bytes(), seen.bytes() + bytes, [](unsigned char byte) { return byte == 3; }));
  std::memset(seen.get(), 4, bytes);
  SCENARIO_EXPECT(ZE_RESULT_SUCCESS, world.copy(memory, seen.get(), bytes));
  SCENARIO_REQUIRE(std::all_of(memory, memory + bytes, [](unsigned char byte) { return byte == 4; }));
  int status = 0;
  SCENARIO_REQUIRE(::waitpid(child, &status, 0) == child && status == 0);
  return 0;
}

}  // namespace datum::test
