// Random reservations, mappings, access changes and copies against a plain picture of what every byte has to
// be; and the same calls from many threads.
#include <algorithm>
#include <atomic>
#include <thread>

#include "tests/api/virtual_memory_test.hpp"
#include "tests/support/memory_probe.hpp"

namespace datum::test {
namespace {

constexpr std::size_t range_pages = 16;
constexpr std::size_t object_pages = 8;
constexpr std::size_t range_count = 2;
constexpr std::size_t object_count = 4;  // the odd ones are host memory

class VirtualRandom : public VirtualTest {
 protected:
  struct Object {
    OwnedPhysical handle;
    Bytes bytes;  ///< what it has to hold
  };

  struct Page {
    std::size_t object = object_count;  ///< object_count: nothing is mapped
    std::size_t offset = 0;             ///< in the object
    ze_memory_access_attribute_t access = none;
  };

  struct Range {
    OwnedReservation reservation;
    std::vector<Page> pages = std::vector<Page>(range_pages);
  };

  void SetUp() override {
    VirtualTest::SetUp();
    if (HasFatalFailure()) {
      return;
    }
    for (std::size_t index = 0; index < object_count; ++index) {
      objects_.push_back(
          {physical(object_pages * page, index % 2 == 1 ? in_host : 0), Bytes(object_pages * page)});
    }
    for (std::size_t index = 0; index < range_count; ++index) {
      ranges_.push_back({reserve(range_pages * page), std::vector<Page>(range_pages)});
    }
    initialise_objects();
  }

  void TearDown() override {
    ranges_.clear();
    objects_.clear();
    VirtualTest::TearDown();
  }

  void initialise_objects() {
    const OwnedReservation all = reserve(object_pages * page);
    for (std::size_t index = 0; index < object_count; ++index) {
      objects_[index].bytes = pattern(object_pages * page, index + 1);
      ASSERT_EQ(ZE_RESULT_SUCCESS, map(all.at(), object_pages * page, objects_[index].handle));
      upload(all.at(), objects_[index].bytes);
      ASSERT_EQ(ZE_RESULT_SUCCESS, unmap(all.at(), object_pages * page));
    }
  }

  /// Pages [first, first + count) of a range.
  struct Part {
    Range* range = nullptr;
    std::size_t first = 0;
    std::size_t count = 0;

    [[nodiscard]] unsigned char* at() const { return range->reservation.at(first * page); }

    [[nodiscard]] std::size_t bytes() const { return count * page; }

    [[nodiscard]] Page* begin() const { return &range->pages[first]; }

    [[nodiscard]] Page* end() const { return begin() + count; }
  };

  Part random_part(std::size_t most_pages) {
    Range& range = ranges_[random_.below(range_count)];
    const std::size_t first = random_.below(range_pages);
    return {&range, first, random_.between(1, std::min(most_pages, range_pages - first))};
  }

  ze_memory_access_attribute_t random_access() {
    constexpr ze_memory_access_attribute_t choices[] = {none, read_write, read_write, read_only};
    return choices[random_.below(4)];
  }

  static bool any_mapped(const Part& part) {
    return std::any_of(part.begin(), part.end(),
                       [](const Page& each) { return each.object != object_count; });
  }

  static bool all_mapped(const Part& part) {
    return std::all_of(part.begin(), part.end(),
                       [](const Page& each) { return each.object != object_count; });
  }

  void map_step() {
    const Part part = random_part(object_pages);
    const std::size_t object = random_.below(object_count);
    const std::size_t offset = random_.below(object_pages - part.count + 1);
    const auto access = random_access();
    const bool refused = any_mapped(part);
    ASSERT_EQ(refused ? ZE_RESULT_ERROR_INVALID_ARGUMENT : ZE_RESULT_SUCCESS,
              map(part.at(), part.bytes(), objects_[object].handle, offset * page, access));
    for (std::size_t index = 0; !refused && index < part.count; ++index) {
      part.begin()[index] = {object, (offset + index) * page, access};
    }
  }

  void unmap_step() {
    const Part part = random_part(6);
    const bool possible = all_mapped(part);
    ASSERT_EQ(possible ? ZE_RESULT_SUCCESS : ZE_RESULT_ERROR_INVALID_ARGUMENT,
              unmap(part.at(), part.bytes()));
    if (possible) {
      std::fill(part.begin(), part.end(), Page{});
    }
  }

  void access_step() {
    const Part part = random_part(range_pages);
    const auto access = random_access();
    ASSERT_EQ(ZE_RESULT_SUCCESS, zeVirtualMemSetAccessAttribute(context(), part.at(), part.bytes(), access));
    std::for_each(part.begin(), part.end(), [access](Page& each) { each.access = access; });
  }

  void free_step() {
    Range& range = ranges_[random_.below(range_count)];
    ASSERT_EQ(ZE_RESULT_SUCCESS, range.reservation.free());
    range.reservation = reserve(range_pages * page);
    range.pages.assign(range_pages, Page{});
  }

  [[nodiscard]] bool readable(const Part& part) const {
    return all_mapped(part) &&
           std::all_of(part.begin(), part.end(), [](const Page& each) { return each.access != none; });
  }

  [[nodiscard]] Bytes expected(const Part& part) const {
    Bytes bytes;
    for (const Page& each : part) {
      const auto from = objects_[each.object].bytes.begin() + static_cast<std::ptrdiff_t>(each.offset);
      bytes.insert(bytes.end(), from, from + page);
    }
    return bytes;
  }

  void read_step() {
    const Part part = random_part(4);
    if (readable(part)) {
      ASSERT_TRUE(same_bytes(expected(part), download(part.at(), part.bytes())));
    } else if (!all_mapped(part)) {
      const OwnedMemory block = memory(MemoryKind::host, part.bytes());
      ASSERT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, copy_code_apart(block.get(), part.at(), part.bytes()));
    } else {
      const OwnedMemory block = memory(MemoryKind::host, part.bytes());
      ASSERT_EQ(ZE_RESULT_ERROR_UNKNOWN, copy_code_apart(block.get(), part.at(), part.bytes()));
    }
  }

  /// A page alone, so that what a refused write has to leave is certain; at an odd place in it.
  void write_step() {
    const Part part = random_part(1);
    if (!all_mapped(part)) {
      return;
    }
    const std::size_t first = random_.below(page - 1);
    const Bytes bytes = pattern(random_.between(1, page - first), random_.next());
    if (part.begin()->access == read_write) {
      upload(part.at() + first, bytes);
      std::copy(bytes.begin(), bytes.end(),
                objects_[part.begin()->object].bytes.begin() +
                    static_cast<std::ptrdiff_t>(part.begin()->offset + first));
    } else {
      const OwnedMemory block = memory(MemoryKind::host, bytes.size());
      std::copy(bytes.begin(), bytes.end(), block.bytes());
      ASSERT_EQ(ZE_RESULT_ERROR_UNKNOWN, copy_code_apart(part.at() + first, block.get(), bytes.size()));
    }
  }

  /// Access as the driver tells it, and as the CPU has it.
  void look_step() {
    const Part part = random_part(range_pages);
    std::size_t alike = 0;
    ASSERT_EQ(part.begin()->access, access_at(part.at(), part.bytes(), &alike));
    const auto* other = std::find_if(part.begin(), part.end(),
                                     [&](const Page& each) { return each.access != part.begin()->access; });
    ASSERT_EQ(static_cast<std::size_t>(other - part.begin()) * page, alike);
    const bool host = part.begin()->object < object_count && part.begin()->object % 2 == 1;
    ASSERT_EQ(host && part.begin()->access != none, host_can_read(part.at()));
    ASSERT_EQ(host && part.begin()->access == read_write, host_can_write(part.at()));
  }

  void step() {
    switch (random_.below(16)) {
    case 0:
    case 1:
    case 2:
    case 3:
      return map_step();
    case 4:
    case 5:
      return unmap_step();
    case 6:
    case 7:
      return access_step();
    case 8:
      return random_.one_in(8) ? free_step() : look_step();
    case 9:
    case 10:
    case 11:
      return write_step();
    case 12:
      return look_step();
    default:
      return read_step();
    }
  }

  Random random_{test_seed()};
  std::vector<Object> objects_;
  std::vector<Range> ranges_;
};

TEST_F(VirtualRandom, given_random_changes_and_copies_then_every_byte_is_what_a_plain_picture_of_it_says) {
  const int steps = by_board(1500, 80);
  for (int index = 0; index < steps; ++index) {
    step();
    ASSERT_FALSE(HasFatalFailure() || HasNonfatalFailure()) << "step " << index << ", seed " << test_seed();
  }
}

TEST_F(VirtualRandom, given_many_threads_that_map_copy_protect_and_free_then_each_finds_its_own_bytes) {
  const int rounds = by_board(60, 3);
  constexpr unsigned threads = 4;
  std::atomic<int> failures{0};
  const auto churn = [&](unsigned number) {
    const auto fine = [&](bool ok) { failures += ok ? 0 : 1; };
    const OwnedMemory block = memory(MemoryKind::host, 2 * page);
    for (int round = 0; round < rounds; ++round) {
      OwnedPhysical object =
          physical(3 * page, (number + static_cast<unsigned>(round)) % 2 == 0 ? in_host : 0);
      OwnedReservation range = reserve(4 * page);
      fine(map(range.at(page), 3 * page, object) == ZE_RESULT_SUCCESS);
      write_pattern(block.get(), 2 * page, number * 1000 + static_cast<unsigned>(round));
      fine(copy_code_apart(range.at(2 * page), block.get(), 2 * page) == ZE_RESULT_SUCCESS);
      fine(zeVirtualMemSetAccessAttribute(context(), range.at(2 * page), page, read_only) ==
           ZE_RESULT_SUCCESS);
      fine(copy_code_apart(block.get(), range.at(2 * page), 2 * page) == ZE_RESULT_SUCCESS);
      fine(static_cast<bool>(same_bytes(
          pattern(2 * page, number * 1000 + static_cast<unsigned>(round)).data(), block.get(), 2 * page)));
      fine(access_at(range.at(2 * page), 2 * page) == read_only);
      fine(object.destroy() == ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE);
      fine(unmap(range.at(page), page) == ZE_RESULT_SUCCESS);
      fine(range.free() == ZE_RESULT_SUCCESS);
      fine(object.destroy() == ZE_RESULT_SUCCESS);
    }
  };
  std::vector<std::thread> running;
  for (unsigned number = 0; number < threads; ++number) {
    running.emplace_back(churn, number);
  }
  for (std::thread& thread : running) {
    thread.join();
  }
  EXPECT_EQ(0, failures.load());
}

}  // namespace
}  // namespace datum::test
