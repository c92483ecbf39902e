#include "driver/memory/buddy_pages.hpp"

#include <algorithm>
#include <bit>

#include <datum/base/address.hpp>

namespace datum {

std::uint32_t BuddyPages::add_slab() {
  auto slab = std::make_unique<Slab>();
  slab->free_order.fill(not_a_free_head);
  std::uint32_t number = static_cast<std::uint32_t>(slabs_.size());
  if (!unused_numbers_.empty()) {
    number = unused_numbers_.back();
    unused_numbers_.pop_back();
    slabs_[number] = std::move(slab);
  } else {
    unused_numbers_.reserve(slabs_.size() + 1);  // so that remove_slab never allocates
    slabs_.push_back(std::move(slab));
  }
  push(key(number, 0), slab_order);
  return number;
}

void BuddyPages::remove_slab(std::uint32_t slab) noexcept {
  unlink(key(slab, 0), slab_order);
  slabs_[slab].reset();
  unused_numbers_.push_back(slab);
}

void BuddyPages::push(std::uint32_t block, unsigned order) noexcept {
  Slab& slab = slab_of(block);
  const std::uint32_t page = block % slab_pages;
  slab.free_order[page] = static_cast<std::uint8_t>(order);
  slab.previous[page] = none;
  slab.next[page] = first_free_[order];
  if (first_free_[order] != none) {
    slab_of(first_free_[order]).previous[first_free_[order] % slab_pages] = block;
  }
  first_free_[order] = block;
}

void BuddyPages::unlink(std::uint32_t block, unsigned order) noexcept {
  Slab& slab = slab_of(block);
  const std::uint32_t page = block % slab_pages;
  const std::uint32_t next = slab.next[page];
  const std::uint32_t previous = slab.previous[page];
  slab.free_order[page] = not_a_free_head;
  if (previous != none) {
    slab_of(previous).next[previous % slab_pages] = next;
  } else {
    first_free_[order] = next;
  }
  if (next != none) {
    slab_of(next).previous[next % slab_pages] = previous;
  }
}

std::optional<BuddyBlock> BuddyPages::take(unsigned order) noexcept {
  unsigned found = order;
  while (found <= slab_order && first_free_[found] == none) {
    ++found;
  }
  if (found > slab_order) {
    return std::nullopt;
  }
  const std::uint32_t block = first_free_[found];
  unlink(block, found);
  while (found > order) {
    --found;
    push(block + (1U << found), found);
  }
  return BuddyBlock{block / slab_pages, static_cast<std::uint16_t>(block % slab_pages),
                    static_cast<std::uint8_t>(order)};
}

bool BuddyPages::release(const BuddyBlock& block) noexcept {
  Slab& slab = *slabs_[block.slab];
  std::uint32_t page = block.page;
  unsigned order = block.order;
  while (order < slab_order) {
    const std::uint32_t buddy = page ^ (1U << order);
    if (slab.free_order[buddy] != order) {
      break;
    }
    unlink(key(block.slab, buddy), order);
    page = std::min(page, buddy);
    ++order;
  }
  push(key(block.slab, page), order);
  return order == slab_order;
}

unsigned buddy_order(std::uint64_t bytes, std::uint64_t alignment) noexcept {
  const std::uint64_t pages =
      std::max((bytes + small_page_bytes - 1) / small_page_bytes, alignment / small_page_bytes);
  return static_cast<unsigned>(std::bit_width(std::max<std::uint64_t>(pages, 1) - 1));
}

}  // namespace datum
