#include "driver/memory/device_heap.hpp"

#include <algorithm>
#include <bit>
#include <new>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

namespace datum {
namespace {

constexpr std::uint64_t all_ones = ~0ULL;

}  // namespace

DeviceHeap::DeviceHeap(const Options& options)
    : ordinal_(options.ordinal),
      pages_(options.bytes / small_page_bytes),
      clean_(options.clean),
      table_reserve_pages_(std::min({options.table_reserve_bytes, options.bytes, options.fixed_bytes}) /
                           small_page_bytes),
      used_((pages_ + block_pages - 1) / block_pages * words_per_block),
      owners_(pages_) {
  const auto block_count = static_cast<std::uint32_t>((pages_ + block_pages - 1) / block_pages);
  const auto fixed_blocks = static_cast<std::uint32_t>(
      std::min<std::uint64_t>(options.fixed_bytes / large_page_bytes, block_count));
  // A fixed part below 2 MiB still has to hold tables; then the rest of its block is nobody's.
  const bool part_of_block = fixed_blocks == 0 && options.fixed_bytes >= small_page_bytes && block_count != 0;
  low_ = {0, part_of_block ? 1 : fixed_blocks, none, 0, 0};
  const std::uint64_t low_end = std::min<std::uint64_t>(std::uint64_t{low_.end} * block_pages, pages_);
  low_.free_pages = part_of_block ? std::min(options.fixed_bytes / small_page_bytes, low_end) : low_end;
  unused_pages_ = low_end - low_.free_pages;
  high_ = {low_.end, block_count, none, low_.end, pages_ - low_end};
  blocks_.resize(block_count);
  block_has_owner_.resize(block_count);
  const auto keep_out = [&](std::uint64_t first, std::uint64_t end) {
    mutex_.assert_held();  // nobody else knows the heap yet
    for (std::uint64_t page = first; page < end; ++page) {
      used_[page / 64] |= 1ULL << (page % 64);
    }
  };
  keep_out(low_.free_pages, low_end);
  keep_out(pages_, std::uint64_t{block_count} * block_pages);
  for (std::uint32_t block = 0; block < block_count; ++block) {
    blocks_[block].free_pages = static_cast<std::uint16_t>(pages_in(block));
    if (pages_in(block) != block_pages) {
      link_partial(block);
    }
  }
}

std::uint32_t DeviceHeap::pages_in(std::uint32_t block) const noexcept {
  const std::uint64_t pages =
      std::min<std::uint64_t>(block_pages, pages_ - std::uint64_t{block} * block_pages);
  return static_cast<std::uint32_t>(block == 0 ? pages - unused_pages_ : pages);
}

std::uint64_t DeviceHeap::low_pages_for_allocation() const noexcept {
  const std::uint64_t kept = table_reserve_pages_ > table_pages_ ? table_reserve_pages_ - table_pages_ : 0;
  return low_.free_pages > kept ? low_.free_pages - kept : 0;
}

std::uint64_t DeviceHeap::free_pages_for_allocation() const noexcept {
  return high_.free_pages + low_pages_for_allocation();
}

std::uint64_t DeviceHeap::free_bytes() const noexcept {
  const ScopedLock lock(mutex_);
  return free_pages_for_allocation() * small_page_bytes;
}

void DeviceHeap::begin_wait(std::span<const PageRun> runs) noexcept {
  const ScopedLock lock(mutex_);
  for (const PageRun& run : runs) {
    waiting_bytes_ += run.bytes;
  }
}

void DeviceHeap::end_wait(std::span<const PageRun> runs) noexcept {
  const ScopedLock lock(mutex_);
  for (const PageRun& run : runs) {
    waiting_bytes_ -= run.bytes;
  }
}

std::uint64_t DeviceHeap::available_bytes() const noexcept {
  const ScopedLock lock(mutex_);
  return free_pages_for_allocation() * small_page_bytes + waiting_bytes_;
}

void DeviceHeap::link_partial(std::uint32_t block) noexcept {
  Zone& zone = zone_of(block);
  blocks_[block].previous = none;
  blocks_[block].next = zone.first_partial;
  if (zone.first_partial != none) {
    blocks_[zone.first_partial].previous = block;
  }
  zone.first_partial = block;
}

void DeviceHeap::unlink_partial(std::uint32_t block) noexcept {
  const Block& entry = blocks_[block];
  if (entry.previous != none) {
    blocks_[entry.previous].next = entry.next;
  } else {
    zone_of(block).first_partial = entry.next;
  }
  if (entry.next != none) {
    blocks_[entry.next].previous = entry.previous;
  }
}

/// Partly free blocks are in the zone's list; full and wholly free ones are not. A last block of fewer than
/// 512 pages never counts as whole.
void DeviceHeap::set_free_pages(std::uint32_t block, std::uint32_t count) noexcept {
  const auto partial = [](std::uint32_t free) { return free != 0 && free != block_pages; };
  const bool was = partial(blocks_[block].free_pages);
  blocks_[block].free_pages = static_cast<std::uint16_t>(count);
  const bool is = partial(count);
  if (was && !is) {
    unlink_partial(block);
  } else if (!was && is) {
    link_partial(block);
  }
  if (count == block_pages) {
    Zone& zone = zone_of(block);
    zone.search_from = std::min(zone.search_from, block);
  }
}

std::uint32_t DeviceHeap::find_free_block(Zone& zone) noexcept {
  while (zone.search_from < zone.end && blocks_[zone.search_from].free_pages != block_pages) {
    ++zone.search_from;
  }
  return zone.search_from < zone.end ? zone.search_from : none;
}

std::uint32_t DeviceHeap::block_with_free_page(Zone& zone) noexcept {
  return zone.first_partial != none ? zone.first_partial : find_free_block(zone);
}

DeviceHeap::Neighbours DeviceHeap::take_neighbours(std::uint32_t block, std::uint64_t most) noexcept {
  std::uint64_t word = std::uint64_t{block} * words_per_block;
  while (used_[word] == all_ones) {
    ++word;
  }
  const auto bit = static_cast<std::uint32_t>(std::countr_one(used_[word]));
  const auto free_bits = static_cast<std::uint32_t>(std::countr_zero(used_[word] >> bit));
  const std::uint32_t count =
      std::min(static_cast<std::uint32_t>(std::min<std::uint64_t>(most, 64)), std::min(free_bits, 64 - bit));
  used_[word] |= (count == 64 ? all_ones : (1ULL << count) - 1) << bit;
  set_free_pages(block, blocks_[block].free_pages - count);
  zone_of(block).free_pages -= count;
  return {word * 64 + bit, count};
}

void DeviceHeap::append(std::vector<PageRun>& runs, std::uint64_t offset_bytes, std::uint64_t bytes) const {
  if (!runs.empty() && runs.back().first.offset_bytes + runs.back().bytes == offset_bytes) {
    runs.back().bytes += bytes;
  } else {
    runs.push_back({DeviceAddress{offset_bytes, ordinal_}, bytes});
  }
}

std::uint64_t DeviceHeap::take_blocks(Zone& zone, std::uint64_t count, std::vector<PageRun>& runs) {
  std::uint64_t taken = 0;
  for (; taken < count; ++taken) {
    const std::uint32_t block = find_free_block(zone);
    if (block == none) {
      break;
    }
    append(runs, std::uint64_t{block} * large_page_bytes, large_page_bytes);
    std::fill_n(used_.begin() + std::ptrdiff_t{block} * words_per_block, words_per_block, all_ones);
    set_free_pages(block, 0);
    zone.free_pages -= block_pages;
  }
  return taken;
}

std::uint64_t DeviceHeap::take_pages(Zone& zone, std::uint64_t count, std::vector<PageRun>& runs) {
  std::uint64_t taken = 0;
  while (taken < count) {
    const std::uint32_t block = block_with_free_page(zone);
    if (block == none) {
      break;
    }
    if (runs.size() == runs.capacity()) {
      runs.reserve(2 * runs.size() +
                   1);  // before pages are taken, so that running out of host memory loses none
    }
    const Neighbours pages = take_neighbours(block, count - taken);
    append(runs, pages.first * small_page_bytes, pages.count * small_page_bytes);
    taken += pages.count;
  }
  return taken;
}

Result<std::vector<PageRun>> DeviceHeap::allocate(std::uint64_t bytes) {
  const std::uint64_t pages = bytes / small_page_bytes + (bytes % small_page_bytes != 0 ? 1 : 0);
  std::vector<PageRun> runs;
  const ScopedLock lock(mutex_);
  if (pages > free_pages_for_allocation()) {
    return make_error(ErrorCode::out_of_device_memory,
                      fmt::format("{} bytes of memory {} were asked for and {} are free", bytes, ordinal_,
                                  free_pages_for_allocation() * small_page_bytes),
                      "free allocations of any context on the device, or ask for less");
  }
  try {
    std::uint64_t left = pages;
    left -= take_blocks(high_, left / block_pages, runs) * block_pages;
    left -= take_blocks(low_, std::min(left, low_pages_for_allocation()) / block_pages, runs) * block_pages;
    left -= take_pages(high_, left, runs);
    take_pages(low_, left, runs);
  } catch (...) {
    for (const PageRun& run : runs) {
      release_run(run.first.offset_bytes / small_page_bytes, run.bytes / small_page_bytes);
    }
    throw;
  }
  return runs;
}

void DeviceHeap::release_run(std::uint64_t first_page, std::uint64_t count) noexcept {
  std::uint64_t page = first_page;
  const std::uint64_t end = first_page + count;
  while (page < end) {
    const auto block = static_cast<std::uint32_t>(page / block_pages);
    const std::uint64_t block_end = std::min(end, (std::uint64_t{block} + 1) * block_pages);
    const std::uint64_t freed = block_end - page;
    while (page < block_end) {
      const std::uint64_t bit = page % 64;
      const std::uint64_t in_word = std::min(block_end - page, 64 - bit);
      used_[page / 64] &= ~((in_word == 64 ? all_ones : (1ULL << in_word) - 1) << bit);
      page += in_word;
    }
    set_free_pages(block, blocks_[block].free_pages + static_cast<std::uint32_t>(freed));
    zone_of(block).free_pages += freed;
  }
}

void DeviceHeap::free(std::span<const PageRun> runs) noexcept {
  const ScopedLock lock(mutex_);
  for (const PageRun& run : runs) {
    release_run(run.first.offset_bytes / small_page_bytes, run.bytes / small_page_bytes);
  }
}

Result<DeviceAddress> DeviceHeap::allocate_table() {
  const ScopedLock lock(mutex_);
  const std::uint32_t block = block_with_free_page(low_);
  if (block == none) {
    return make_error(ErrorCode::out_of_device_memory,
                      "no page for page tables is left in the part of the memory that the host sees through "
                      "the fixed aperture");
  }
  const std::uint64_t page = take_neighbours(block, 1).first;
  owners_[page] = owner_driver;
  block_has_owner_[block] = true;
  ++table_pages_;
  return DeviceAddress{page * small_page_bytes, ordinal_};
}

void DeviceHeap::free_table(DeviceAddress page) noexcept {
  const ScopedLock lock(mutex_);
  release_run(page.offset_bytes / small_page_bytes, 1);
  --table_pages_;
}

void DeviceHeap::set_owner(std::span<const PageRun> runs, std::uint32_t owner) noexcept {
  const ScopedLock lock(mutex_);
  for (const PageRun& run : runs) {
    std::fill_n(owners_.data() + run.first.offset_bytes / small_page_bytes, run.bytes / small_page_bytes,
                owner);
    for (std::uint64_t block = run.first.offset_bytes / large_page_bytes;
         block <= (run.first.offset_bytes + run.bytes - 1) / large_page_bytes; ++block) {
      block_has_owner_[block] = true;
    }
  }
}

std::vector<PageRun> DeviceHeap::foreign_parts(std::span<const PageRun> runs, std::uint32_t owner) const {
  std::vector<PageRun> parts;
  const ScopedLock lock(mutex_);
  for (const PageRun& run : runs) {
    const std::uint64_t first = run.first.offset_bytes / small_page_bytes;
    for (std::uint64_t page = first; page < first + run.bytes / small_page_bytes; ++page) {
      if (clean_ && !block_has_owner_[page / block_pages]) {
        page |= block_pages - 1;  // on to the next block
        continue;
      }
      const std::uint32_t holder = owners_[page];
      if (holder != owner && !(holder == 0 && clean_)) {
        append(parts, page * small_page_bytes, small_page_bytes);
      }
    }
  }
  return parts;
}

void DeviceHeap::forget_contents() noexcept {
  const ScopedLock lock(mutex_);
  clean_ = false;
}

}  // namespace datum
