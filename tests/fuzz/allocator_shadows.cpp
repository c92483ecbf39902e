#include "tests/fuzz/allocator_shadows.hpp"

#include <algorithm>

namespace datum::test {
namespace {

constexpr std::uint64_t mebi = 1U << 20U;

DeviceHeap::Options draw_options(Input& input) {
  DeviceHeap::Options options;
  options.bytes = small_page_bytes * (1 + input.below(2048)) + input.below(small_page_bytes);
  options.bytes = std::max(options.bytes, mebi);
  options.fixed_bytes = align_down(mebi + input.below(9 * mebi), small_page_bytes);
  options.fixed_bytes = std::min(options.fixed_bytes, options.bytes);
  options.clean = input.flip();
  options.table_reserve_bytes = small_page_bytes * input.below(64);
  options.table_reserve_bytes = std::min(options.table_reserve_bytes, options.fixed_bytes);
  return options;
}

}  // namespace

HeapShadow::HeapShadow(Input& input)
    : input_(input),
      options_(draw_options(input)),
      heap_(options_),
      clean_(options_.clean),
      pages_(options_.bytes / small_page_bytes) {}

void HeapShadow::step() {
  switch (input_.below(8)) {
  case 0:
  case 1:
    allocate(1 + input_.below(input_.flip() ? 8 * mebi : 16 * small_page_bytes));
    break;
  case 2:
  case 3:
    free_one();
    break;
  case 4:
    allocate_table();
    break;
  case 5:
    free_table_page();
    break;
  case 6:
    own();
    break;
  default:
    if (input_.below(32) == 0) {
      heap_.forget_contents();
      clean_ = false;
    }
    check_foreign();
  }
  require(heap_.free_bytes() == free_pages() * small_page_bytes, "free_bytes is what can be had");
}

/// Without what is kept for tables.
std::uint64_t HeapShadow::free_pages() const {
  const std::uint64_t whole = align_down(options_.fixed_bytes, large_page_bytes) / small_page_bytes;
  // Of the first block no more than the fixed part is used if that ends in it.
  const std::uint64_t first = options_.fixed_bytes / small_page_bytes;
  const std::uint64_t low_end = whole != 0 ? whole : first;
  const std::uint64_t high_begin = whole != 0 ? whole : large_page_bytes / small_page_bytes;
  const std::uint64_t reserve = options_.table_reserve_bytes / small_page_bytes;
  const std::uint64_t kept = reserve > tables_.size() ? reserve - tables_.size() : 0;
  std::uint64_t low = 0;
  std::uint64_t high = 0;
  for (std::uint64_t page = 0; page < pages_.size(); ++page) {
    low += page < low_end && !pages_[page].taken ? 1 : 0;
    high += page >= high_begin && !pages_[page].taken ? 1 : 0;
  }
  return high + (low > kept ? low - kept : 0);
}

void HeapShadow::allocate(std::uint64_t bytes) {
  const std::uint64_t wanted = (bytes + small_page_bytes - 1) / small_page_bytes;
  const std::uint64_t free = free_pages();
  Result<std::vector<PageRun>> runs = heap_.allocate(bytes);
  require(runs.ok() == (wanted <= free), "what is free can be had, and nothing else");
  if (!runs.ok()) {
    require(runs.error().code == ErrorCode::out_of_device_memory, "a full heap is memory of the device's");
    return;
  }
  std::uint64_t got = 0;
  for (const PageRun& run : *runs) {
    require(run.bytes != 0 && is_aligned(run.bytes | run.first.offset_bytes, small_page_bytes),
            "runs are whole pages");
    got += run.bytes / small_page_bytes;
    for (std::uint64_t at = 0; at < run.bytes; at += small_page_bytes) {
      Page& page = pages_.at((run.first.offset_bytes + at) / small_page_bytes);
      require(!page.taken, "no page is handed out twice");
      page.taken = true;
    }
  }
  require(got == wanted, "as many pages as were asked for");
  allocations_.push_back(std::move(*runs));
}

void HeapShadow::free_one() {
  if (allocations_.empty()) {
    return;
  }
  const std::size_t which = input_.below(allocations_.size());
  for (const PageRun& run : allocations_[which]) {
    for (std::uint64_t at = 0; at < run.bytes; at += small_page_bytes) {
      pages_[(run.first.offset_bytes + at) / small_page_bytes].taken = false;
    }
  }
  heap_.free(allocations_[which]);
  allocations_.erase(allocations_.begin() + static_cast<std::ptrdiff_t>(which));
}

void HeapShadow::allocate_table() {
  const Result<DeviceAddress> table = heap_.allocate_table();
  if (!table.ok()) {
    require(table.error().code == ErrorCode::out_of_device_memory, "no page for tables is device memory");
    return;
  }
  require(is_aligned(table->offset_bytes, small_page_bytes) &&
              table->offset_bytes + small_page_bytes <= options_.fixed_bytes,
          "tables lie in the fixed part");
  Page& page = pages_.at(table->offset_bytes / small_page_bytes);
  require(!page.taken, "no page is handed out twice");
  page = {true, true, ~0U};
  tables_.push_back(*table);
}

void HeapShadow::free_table_page() {
  if (tables_.empty()) {
    return;
  }
  pages_[tables_.back().offset_bytes / small_page_bytes].taken = false;
  heap_.free_table(tables_.back());
  tables_.pop_back();
}

void HeapShadow::own() {
  if (allocations_.empty()) {
    return;
  }
  const auto& runs = allocations_[input_.below(allocations_.size())];
  const auto owner = static_cast<std::uint32_t>(1 + input_.below(3));
  heap_.set_owner(runs, owner);
  for (const PageRun& run : runs) {
    for (std::uint64_t at = 0; at < run.bytes; at += small_page_bytes) {
      Page& page = pages_[(run.first.offset_bytes + at) / small_page_bytes];
      page.written = true;
      page.owner = owner;
    }
  }
}

void HeapShadow::check_foreign() {
  if (allocations_.empty()) {
    return;
  }
  const auto& runs = allocations_[input_.below(allocations_.size())];
  const auto reader = static_cast<std::uint32_t>(1 + input_.below(3));
  std::vector<bool> foreign(pages_.size());
  for (const PageRun& part : heap_.foreign_parts(runs, reader)) {
    for (std::uint64_t at = 0; at < part.bytes; at += small_page_bytes) {
      foreign.at((part.first.offset_bytes + at) / small_page_bytes) = true;
    }
  }
  std::uint64_t marked = 0;
  for (const PageRun& run : runs) {
    for (std::uint64_t at = 0; at < run.bytes; at += small_page_bytes) {
      const std::uint64_t number = (run.first.offset_bytes + at) / small_page_bytes;
      const Page& page = pages_[number];
      const bool others = page.written ? page.owner != reader : !clean_;
      require(foreign[number] == others, "what holds data of others is to be cleared, and nothing else");
      marked += others ? 1 : 0;
    }
  }
  require(marked == static_cast<std::uint64_t>(std::count(foreign.begin(), foreign.end(), true)),
          "foreign parts are parts of the runs");
}

std::uintptr_t RegistryShadow::draw_address() {
  constexpr std::uintptr_t base = 0x7000'0000'0000;
  switch (input_.below(8)) {
  case 0:
    return input_.number<std::uint64_t>();
  case 1:
    return base + (input_.below(1U << 16U) << 30U);
  default:
    return base + input_.below(1U << 12U) * small_page_bytes;
  }
}

const Allocation* RegistryShadow::covering(std::uintptr_t address) const {
  const auto after = live_.upper_bound(address);
  if (after == live_.begin()) {
    return nullptr;
  }
  const Allocation& before = std::prev(after)->second;
  return address - before.first_page() < before.span_bytes() ? &before : nullptr;
}

void RegistryShadow::step() {
  switch (input_.below(4)) {
  case 0:
  case 1:
    insert();
    break;
  case 2:
    erase();
    break;
  default:
    find(draw_address() + input_.below(3 * small_page_bytes));
  }
}

void RegistryShadow::insert() {
  Allocation allocation;
  allocation.id = next_id_++;
  allocation.base = draw_address();
  allocation.size_bytes =
      1 + input_.below(input_.below(8) == 0 ? std::uint64_t{1} << 34U : 64 * small_page_bytes);
  allocation.context = reinterpret_cast<Context*>(0x1000 * (1 + input_.below(3)));  // never followed
  allocation.kind = static_cast<AllocationKind>(input_.below(5));
  allocation.imported = allocation.kind != AllocationKind::virtual_reservation && input_.below(4) == 0;
  if (allocation.imported && input_.flip()) {
    allocation.base += input_.below(small_page_bytes);
  }
  const bool whole = is_aligned(allocation.base, small_page_bytes) || allocation.imported;
  constexpr std::uintptr_t end_of_addresses = std::uintptr_t{1} << 47U;
  const std::uintptr_t end = allocation.first_page() + allocation.span_bytes();
  const bool possible = whole && allocation.base < end_of_addresses && end <= end_of_addresses;
  bool overlaps = false;
  for (const auto& [first, other] : live_) {
    overlaps = overlaps || (possible && first < end && allocation.first_page() < first + other.span_bytes());
  }
  const Status inserted = registry_.insert(allocation);
  require(inserted.ok() || inserted.error().code == ErrorCode::invalid_argument ||
              inserted.error().code == ErrorCode::out_of_host_memory,
          "a refusal has its code");
  require(!inserted.ok() || (possible && !overlaps), "ranges never overlap");
  require(inserted.ok() || !possible || overlaps || inserted.error().code == ErrorCode::out_of_host_memory,
          "a range that is free is taken");
  if (inserted.ok()) {
    live_.emplace(allocation.first_page(), allocation);
    find(allocation.base);
    find(allocation.base + allocation.size_bytes - 1);
  }
}

void RegistryShadow::erase() {
  std::uintptr_t base = draw_address();
  if (!live_.empty() && input_.below(4) != 0) {
    auto chosen = live_.begin();
    std::advance(chosen, static_cast<std::ptrdiff_t>(input_.below(live_.size())));
    base = chosen->second.base;
  }
  const auto* owner = reinterpret_cast<Context*>(0x1000 * (1 + input_.below(3)));
  const bool reservation = input_.flip();
  const bool imported = !reservation && input_.flip();
  const Allocation* const there = covering(base);
  const bool expected = there != nullptr && there->base == base && there->context == owner &&
                        (there->kind == AllocationKind::virtual_reservation) == reservation &&
                        there->imported == imported;
  const std::optional<Allocation> erased =
      reservation ? registry_.erase_reservation(base, owner) : registry_.erase(base, owner, imported);
  require(erased.has_value() == expected, "what is erased is exactly what was named");
  if (erased) {
    require(erased->id == there->id, "the allocation that was taken out is the one that was there");
    live_.erase(there->first_page());
  }
  find(base);
}

void RegistryShadow::find(std::uintptr_t address) const {
  const Allocation* const there = covering(address);
  const std::optional<Allocation> found = registry_.find(address);
  require(found.has_value() == (there != nullptr), "an address is known exactly while it is in a live range");
  require(!found || (found->id == there->id && found->base == there->base &&
                     found->size_bytes == there->size_bytes && found->context == there->context &&
                     found->kind == there->kind && found->imported == there->imported),
          "what is found is what was inserted");
}

}  // namespace datum::test
