// Scenes about bytes: copies, fills, regions, and allocations that stay while others come and go.
#include <algorithm>
#include <cstring>
#include <utility>

#include "tests/soak/scenes.hpp"

namespace datum::soak {
namespace {

constexpr std::size_t most_kept = 12;
constexpr std::size_t page = 4096;

/// The bytes that a fill leaves, and those around it.
void require_fill(Stage& stage, Block& block, std::size_t at, std::size_t bytes, const test::Bytes& word,
                  std::uint64_t seed) {
  test::Bytes expected = test::pattern(block.size(), seed);
  for (std::size_t i = 0; i < bytes; ++i) {
    expected[at + i] = word[i % word.size()];
  }
  Block found = stage.draw_host_block(block.size());
  copy(stage, found.data(), block.data(), block.size());
  require(std::memcmp(expected.data(), found.data(), block.size()) == 0,
          "a fill of " + std::to_string(bytes) + " bytes at " + std::to_string(at) + " left other bytes");
}

}  // namespace

void play_copies(Stage& stage) {
  const std::size_t bytes = stage.draw_size();
  const std::size_t skipped = stage.random.below(100);
  const std::uint64_t seed = stage.random.next();
  Block first = stage.draw_block(bytes + skipped);
  Block second = stage.draw_block(bytes + skipped);
  upload(stage, first.data() + skipped, bytes, seed);
  copy(stage, second.data(), first.data() + skipped, bytes);
  require_held(stage, second.data(), bytes, seed, "the end of three copies");
}

void play_fills(Stage& stage) {
  const std::size_t width = std::size_t{1} << stage.random.below(5);
  const std::uint64_t seed = stage.random.next();
  Block block = stage.draw_block(width * 4 + stage.draw_size() / 8 * 8);
  // A pattern as wide as 16 bytes asks for addresses that are multiples of it.
  const std::size_t at = stage.random.below(block.size() / 32 + 1) * 16;
  const std::size_t bytes = (block.size() - std::min(at, block.size())) / width * width;
  if (bytes == 0) {
    return;
  }
  test::Bytes word(width);
  test::write_pattern(word.data(), width, seed + 1);
  upload(stage, block.data(), block.size(), seed);
  run(stage, [&](ze_command_list_handle_t list) {
    check(zeCommandListAppendMemoryFill(list, block.data() + at, word.data(), width, bytes, nullptr, 0,
                                        nullptr),
          "zeCommandListAppendMemoryFill");
  });
  stage.copied += bytes;
  require_fill(stage, block, at, bytes, word, seed);
}

void play_regions(Stage& stage) {
  const auto pitch = static_cast<std::uint32_t>(stage.random.between(16, 200));
  const auto rows = static_cast<std::uint32_t>(stage.random.between(1, 24));
  const auto width = static_cast<std::uint32_t>(stage.random.between(1, pitch));
  const std::size_t bytes = std::size_t{pitch} * rows;
  const std::uint64_t seed = stage.random.next();
  Block from = stage.draw_block(bytes);
  Block to = stage.draw_host_block(bytes);
  upload(stage, from.data(), bytes, seed);
  test::write_pattern(to.data(), bytes, seed + 1);
  const ze_copy_region_t region{0, 0, 0, width, rows, 0};
  run(stage, [&](ze_command_list_handle_t list) {
    check(zeCommandListAppendMemoryCopyRegion(list, to.data(), &region, pitch, 0, from.data(), &region, pitch,
                                              0, nullptr, 0, nullptr),
          "zeCommandListAppendMemoryCopyRegion");
  });
  stage.copied += std::size_t{width} * rows;
  const test::Bytes copied = test::pattern(bytes, seed);
  const test::Bytes left = test::pattern(bytes, seed + 1);
  for (std::size_t i = 0; i < bytes; ++i) {
    const unsigned char expected = i % pitch < width ? copied[i] : left[i];
    require(to.data()[i] == expected, "byte " + std::to_string(i) + " of a copied region is wrong");
  }
}

void play_kept_memory(Stage& stage) {
  if (!stage.kept.empty() && (stage.kept.size() == most_kept || stage.random.one_in(3))) {
    const std::size_t index = stage.random.below(stage.kept.size());
    Kept gone = std::move(stage.kept[index]);
    stage.kept.erase(stage.kept.begin() + static_cast<std::ptrdiff_t>(index));
    require_held(stage, gone.block.data(), gone.block.size(), gone.seed, "memory that was kept");
    return;
  }
  const std::size_t bytes = stage.draw_size();
  Kept kept{stage.draw_block(bytes), stage.random.next()};
  upload(stage, kept.block.data(), bytes, kept.seed);
  stage.kept.push_back(std::move(kept));
}

void play_export_within(Stage& stage) {
  const std::size_t bytes = stage.draw_size();
  const std::uint64_t seed = stage.random.next();
  Block block(stage.site, stage.random.one_in(2) ? test::MemoryKind::device : test::MemoryKind::host, bytes);
  upload(stage, block.data(), bytes, seed);
  ze_ipc_mem_handle_t handle{};
  check(zeMemGetIpcHandle(stage.site.context, block.data(), &handle), "zeMemGetIpcHandle");
  const Context other = make_context(stage.site.driver);
  Stage there{{stage.site.driver, stage.site.device, other}, stage.random, stage.largest};
  Block opened = Block::open(there.site, handle, bytes);
  require_held(there, opened.data(), bytes, seed, "memory opened in another context");
  upload(there, opened.data(), bytes, seed + 1);
  opened.end();
  require_held(stage, block.data(), bytes, seed + 1, "memory that another context wrote to");
  stage.copied += there.copied;
}

void play_virtual_memory(Stage& stage) {
  const Site& site = stage.site;
  const std::size_t bytes = (stage.draw_size() + page - 1) / page * page;
  const std::uint64_t seed = stage.random.next();
  void* address = nullptr;
  check(zeVirtualMemReserve(site.context, nullptr, bytes, &address), "zeVirtualMemReserve");

  struct Reservation {
    ~Reservation() {
      const ze_result_t code = zeVirtualMemFree(context, address, bytes);
      // That the board is lost is said once it is gone all the same.
      note_end(code == ZE_RESULT_ERROR_DEVICE_LOST ? ZE_RESULT_SUCCESS : code, "zeVirtualMemFree");
    }

    ze_context_handle_t context;
    void* address;
    std::size_t bytes;
  };

  ++live_objects();

  struct Physical {
    ~Physical() {
      if (handle != nullptr) {
        note_end(zePhysicalMemDestroy(context, handle), "zePhysicalMemDestroy");
      }
    }

    ze_context_handle_t context;
    ze_physical_mem_handle_t handle = nullptr;
  } physical{site.context};

  const Reservation reservation{site.context, address, bytes};
  ze_physical_mem_desc_t desc{ZE_STRUCTURE_TYPE_PHYSICAL_MEM_DESC, nullptr,
                              ZE_PHYSICAL_MEM_FLAG_ALLOCATE_ON_DEVICE, bytes};
  check(zePhysicalMemCreate(site.context, site.device, &desc, &physical.handle), "zePhysicalMemCreate");
  ++live_objects();
  check(
      zeVirtualMemMap(site.context, address, bytes, physical.handle, 0, ZE_MEMORY_ACCESS_ATTRIBUTE_READWRITE),
      "zeVirtualMemMap");
  upload(stage, address, bytes, seed);
  require_held(stage, address, bytes, seed, "mapped memory");
  check(zeVirtualMemUnmap(site.context, address, bytes), "zeVirtualMemUnmap");
}

}  // namespace datum::soak
