// The allocators against shadows that know one bit a unit: nothing is handed out twice, nothing that fits is
// refused, and the books agree after each step.
#include <array>
#include <bit>
#include <optional>
#include <vector>

#include "driver/memory/buddy_pages.hpp"
#include "driver/memory/iova_allocator.hpp"
#include "driver/memory/range_allocator.hpp"
#include "tests/fuzz/allocator_shadows.hpp"
#include "tests/fuzz/input.hpp"

namespace datum::test {
namespace {

struct Run {
  std::uint64_t first = 0;
  std::uint64_t count = 0;
};

/// The maximal runs of `true`.
template <class Bits>
std::vector<Run> runs_of(const Bits& bits) {
  std::vector<Run> runs;
  for (std::uint64_t index = 0; index < bits.size(); ++index) {
    if (!bits[index]) {
      continue;
    }
    if (index == 0 || !bits[index - 1]) {
      runs.push_back({index, 0});
    }
    ++runs.back().count;
  }
  return runs;
}

/// The first multiple of `alignment` in the run from which on it holds `count`.
std::optional<std::uint64_t> fit(const Run& run, std::uint64_t count, std::uint64_t alignment) {
  const std::uint64_t first = (run.first + alignment - 1) / alignment * alignment;
  const std::uint64_t end = run.first + run.count;
  return first <= end && count <= end - first ? std::optional(first) : std::nullopt;
}

class RangeShadow {
 public:
  explicit RangeShadow(Input& input) : input_(input) {}

  void step() {
    const std::uint64_t first = input_.below(units);
    const std::uint64_t count = std::min(1 + input_.below(64), units - first);
    switch (input_.below(4)) {
    case 0:
      give(first, count);
      break;
    case 1:
      take_at(first, count);
      break;
    default:
      take(count, std::uint64_t{1} << input_.below(6));
    }
    std::uint64_t free = 0;
    for (const Run& run : runs_of(free_)) {
      free += run.count;
    }
    require(ranges_.free_bytes() == free, "free_bytes is what is free");
    require(ranges_.range_count() == runs_of(free_).size(), "neighbours are joined");
  }

 private:
  static constexpr std::uint64_t units = 512;

  void give(std::uint64_t first, std::uint64_t count) {
    while (count != 0 && any_free(first, count)) {
      --count;
    }
    ranges_.release(first, count);
    set(first, count, true);
  }

  void take_at(std::uint64_t first, std::uint64_t count) {
    const bool all_free = free_count(first, count) == count;
    require(ranges_.take_at(first, count) == all_free, "take_at takes what is free and nothing else");
    if (all_free) {
      set(first, count, false);
    }
  }

  void take(std::uint64_t count, std::uint64_t alignment) {
    const std::optional<std::uint64_t> taken = ranges_.take(count, alignment);
    std::optional<Run> best;
    for (const Run& run : runs_of(free_)) {
      if (fit(run, count, alignment) && (!best || run.count < best->count)) {
        best = run;
      }
    }
    require(taken.has_value() == best.has_value(), "what fits is handed out, and nothing else");
    if (!taken) {
      return;
    }
    require(*taken % alignment == 0, "a range is aligned as asked");
    require(free_count(*taken, count) == count, "nothing is handed out twice");
    for (const Run& run : runs_of(free_)) {
      const bool from_here = run.first <= *taken && *taken < run.first + run.count;
      require(!from_here || run.count == best->count, "the smallest range that fits is cut");
    }
    set(*taken, count, false);
  }

  [[nodiscard]] std::uint64_t free_count(std::uint64_t first, std::uint64_t count) const {
    std::uint64_t free = 0;
    for (std::uint64_t index = first; index < std::min(first + count, units); ++index) {
      free += free_[index] ? 1 : 0;
    }
    return free;
  }

  [[nodiscard]] bool any_free(std::uint64_t first, std::uint64_t count) const {
    return free_count(first, count) != 0;
  }

  void set(std::uint64_t first, std::uint64_t count, bool free) {
    std::fill_n(free_.begin() + static_cast<std::ptrdiff_t>(first), count, free);
  }

  Input& input_;
  RangeAllocator ranges_;
  std::array<bool, units> free_{};
};

class IovaShadow {
 public:
  explicit IovaShadow(Input& input)
      : input_(input),
        granule_(small_page_bytes << input_.below(3)),
        ranges_(draw_ranges()),
        iovas_(ranges_, granule_),
        free_(space_bytes / granule_, false) {
    for (const board::IovaRange& range : ranges_) {
      for (std::uint64_t unit = 1; unit < free_.size(); ++unit) {
        if (unit * granule_ >= raw(range.first) && (unit + 1) * granule_ - 1 <= raw(range.last)) {
          free_[unit] = true;
        }
      }
    }
  }

  void step() {
    if (!taken_.empty() && input_.flip()) {
      const std::size_t which = input_.below(taken_.size());
      iovas_.release(Iova{taken_[which].first}, taken_[which].count);
      set(taken_[which], true);
      taken_.erase(taken_.begin() + static_cast<std::ptrdiff_t>(which));
    } else {
      take(1 + input_.below(input_.flip() ? space_bytes : 16 * granule_));
    }
    std::uint64_t free = 0;
    for (const Run& run : runs_of(free_)) {
      free += run.count * granule_;
    }
    require(iovas_.free_bytes() == free, "free_bytes is what is free");
  }

 private:
  static constexpr std::uint64_t space_bytes = 16U << 20U;

  std::vector<board::IovaRange> draw_ranges() {
    std::vector<board::IovaRange> ranges;
    std::uint64_t next = 0;
    for (std::uint64_t count = 1 + input_.below(3); count != 0; --count) {
      const std::uint64_t first = next + input_.below(1U << 16U);
      const std::uint64_t last = first + input_.below(8U << 20U);
      if (last >= space_bytes) {
        break;
      }
      ranges.push_back({Iova{first}, Iova{last}});
      next = last + 1 + granule_;  // ranges that touch would be one for the allocator and two for the shadow
    }
    return ranges;
  }

  void take(std::uint64_t bytes) {
    const std::uint64_t count = (bytes + granule_ - 1) / granule_;
    const Result<Iova> taken = iovas_.take(bytes);
    bool fits = false;
    bool fits_large = false;
    for (const Run& run : runs_of(free_)) {
      fits = fits || run.count >= count;
      fits_large = fits_large || fit(run, count, large_page_bytes / granule_);
    }
    require(taken.ok() == fits, "what fits is handed out, and nothing else");
    if (!taken.ok()) {
      require(taken.error().code == ErrorCode::out_of_host_memory, "full ranges are no memory of the host's");
      return;
    }
    const std::uint64_t first = raw(*taken);
    require(first != 0 && first % granule_ == 0, "an IOVA is a multiple of the granule and not 0");
    require(bytes < large_page_bytes || !fits_large || first % large_page_bytes == 0,
            "large ranges lie at large pages");
    for (std::uint64_t unit = 0; unit < count; ++unit) {
      require(free_.at(first / granule_ + unit), "nothing is handed out twice, or outside the ranges");
    }
    taken_.push_back({first, bytes});
    set(taken_.back(), false);
  }

  void set(const Run& range, bool free) {
    for (std::uint64_t at = range.first; at < range.first + range.count; at += granule_) {
      free_[at / granule_] = free;
    }
  }

  Input& input_;
  std::uint64_t granule_;
  std::vector<board::IovaRange> ranges_;
  IovaAllocator iovas_;
  std::vector<bool> free_;
  std::vector<Run> taken_;  ///< bytes
};

class BuddyShadow {
 public:
  explicit BuddyShadow(Input& input) : input_(input) {}

  void step() {
    switch (input_.below(6)) {
    case 0:
      add();
      break;
    case 1:
      remove();
      break;
    case 2:
    case 3:
      release();
      break;
    default:
      take(static_cast<unsigned>(input_.below(BuddyPages::slab_order + 1)));
    }
  }

 private:
  using Slab = std::array<bool, BuddyPages::slab_pages>;  ///< what is free
  static constexpr std::size_t most_slabs = 4;

  void add() {
    if (live() == most_slabs) {
      return;
    }
    const std::uint32_t number = pages_.add_slab();
    require(number < most_slabs, "numbers of removed slabs are used again");
    slabs_.resize(std::max<std::size_t>(slabs_.size(), number + 1));
    require(!slabs_[number], "a number is that of one slab");
    slabs_[number].emplace();
    slabs_[number]->fill(true);
  }

  void remove() {
    for (std::uint32_t number = 0; number < slabs_.size(); ++number) {
      if (slabs_[number] && is_free(number, 0, BuddyPages::slab_pages)) {
        pages_.remove_slab(number);
        slabs_[number].reset();
        return;
      }
    }
  }

  void take(unsigned order) {
    const std::optional<BuddyBlock> block = pages_.take(order);
    const unsigned count = 1U << order;
    bool fits = false;
    for (std::uint32_t number = 0; number < slabs_.size(); ++number) {
      for (unsigned page = 0; slabs_[number] && page < BuddyPages::slab_pages; page += count) {
        fits = fits || is_free(number, page, count);
      }
    }
    require(block.has_value() == fits, "free blocks are merged, and handed out");
    if (!block) {
      return;
    }
    require(block->order == order && block->page % count == 0, "a block is a multiple of its size");
    require(block->slab < slabs_.size() && slabs_[block->slab] && is_free(block->slab, block->page, count),
            "nothing is handed out twice");
    std::fill_n(slabs_[block->slab]->begin() + block->page, count, false);
    taken_.push_back(*block);
  }

  void release() {
    if (taken_.empty()) {
      return;
    }
    const std::size_t which = input_.below(taken_.size());
    const BuddyBlock block = taken_[which];
    taken_.erase(taken_.begin() + static_cast<std::ptrdiff_t>(which));
    std::fill_n(slabs_[block.slab]->begin() + block.page, 1U << block.order, true);
    require(pages_.release(block) == is_free(block.slab, 0, BuddyPages::slab_pages),
            "the last block of a slab says that it was the last");
  }

  [[nodiscard]] bool is_free(std::uint32_t number, unsigned page, unsigned count) const {
    const auto first = slabs_[number]->begin() + page;
    return std::all_of(first, first + count, [](bool free) { return free; });
  }

  [[nodiscard]] std::size_t live() const {
    return static_cast<std::size_t>(
        std::count_if(slabs_.begin(), slabs_.end(), [](const auto& slab) { return slab.has_value(); }));
  }

  Input& input_;
  BuddyPages pages_;
  std::vector<std::optional<Slab>> slabs_;
  std::vector<BuddyBlock> taken_;
};

template <class Shadow>
void run(Input& input) {
  Shadow shadow(input);
  while (!input.empty()) {
    shadow.step();
  }
}

}  // namespace
}  // namespace datum::test

extern "C" int LLVMFuzzerTestOneInput(const std::uint8_t* data, std::size_t size) {
  using namespace datum::test;
  Input input(data, size);
  switch (input.below(5)) {
  case 0:
    run<RangeShadow>(input);
    break;
  case 1:
    run<IovaShadow>(input);
    break;
  case 2:
    run<BuddyShadow>(input);
    break;
  case 3:
    run<HeapShadow>(input);
    break;
  default:
    run<RegistryShadow>(input);
  }
  return 0;
}
