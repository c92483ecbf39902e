// Copies of every small size at every small offset, and lists whose lengths are around those of rings.
#include <cstring>
#include <sys/mman.h>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

constexpr std::size_t page = 4096;

class FieldCopy : public ApiTest {
 protected:
  struct Sample {
    std::size_t from_offset;
    std::size_t to_offset;
    std::size_t bytes;
  };

  static constexpr std::size_t guard = 64;
  static constexpr std::size_t largest = 130;
  static constexpr std::size_t offsets = 17;
  /// A slot holds one sample and the guard on both of its sides.
  static constexpr std::size_t slot = 320;
  static_assert(slot >= guard + offsets + largest + guard);

  /// Each sample in a slot of its own, all in one list; every byte of the target is compared.
  void check(MemoryKind from_kind, MemoryKind to_kind, const std::vector<Sample>& samples) {
    const std::size_t total = slot * samples.size();
    const OwnedMemory from = memory(from_kind, total);
    const OwnedMemory to = memory(to_kind, total);
    const Bytes source = pattern(total, 31);
    Bytes expected = pattern(total, 32);
    upload(from.get(), source);
    upload(to.get(), expected);
    ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
                for (std::size_t i = 0; i < samples.size(); ++i) {
                  const std::size_t source_at = i * slot + guard + samples[i].from_offset;
                  const std::size_t target_at = i * slot + guard + samples[i].to_offset;
                  ASSERT_EQ(ZE_RESULT_SUCCESS, zeCommandListAppendMemoryCopy(
                                                   list, to.bytes() + target_at, from.bytes() + source_at,
                                                   samples[i].bytes, nullptr, 0, nullptr));
                  std::memcpy(expected.data() + target_at, source.data() + source_at, samples[i].bytes);
                }
              }));
    EXPECT_TRUE(same_bytes(expected, download(to.get(), total)))
        << name_of(from_kind) << " to " << name_of(to_kind) << ", slots of " << slot << " bytes";
  }
};

/// All of them where the board moves data at memory speed, else some.
TEST_F(FieldCopy, CP_06_given_every_length_and_offset_when_copied_each_way_then_no_neighbour_changes) {
  Random random(test_seed());
  std::vector<Sample> samples;
  for (std::size_t from = 0; from < offsets; ++from) {
    for (std::size_t to = 0; to < offsets; ++to) {
      for (std::size_t bytes = 0; bytes <= largest; ++bytes) {
        if (!on_rtl() || random.one_in(256)) {
          samples.push_back({from, to, bytes});
        }
      }
    }
  }
  check(MemoryKind::host, MemoryKind::device, samples);
  check(MemoryKind::device, MemoryKind::host, samples);
  check(MemoryKind::device, MemoryKind::device, samples);
}

TEST_F(FieldCopy,
       CP_06_given_every_small_length_before_a_page_that_is_not_there_then_nothing_beyond_is_read) {
  auto* pages = static_cast<unsigned char*>(
      ::mmap(nullptr, 2 * page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0));
  ASSERT_NE(MAP_FAILED, static_cast<void*>(pages));
  ASSERT_EQ(0, ::munmap(pages + page, page));
  write_pattern(pages, page, 33);
  const OwnedMemory to = memory(MemoryKind::device, (largest + 1) * slot);
  ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
              for (std::size_t bytes = 1; bytes <= largest; ++bytes) {
                ASSERT_EQ(ZE_RESULT_SUCCESS,
                          zeCommandListAppendMemoryCopy(list, to.bytes() + bytes * slot, pages + page - bytes,
                                                        bytes, nullptr, 0, nullptr));
              }
            }));
  const Bytes found = download(to.get(), (largest + 1) * slot);
  for (std::size_t bytes = 1; bytes <= largest; ++bytes) {
    EXPECT_TRUE(same_bytes(pages + page - bytes, found.data() + bytes * slot, bytes)) << bytes << " bytes";
  }
  ::munmap(pages, page);
}

TEST_F(FieldCopy, CP_08_given_lists_of_many_lengths_from_the_edge_of_a_page_then_every_piece_arrives) {
  constexpr std::size_t piece = 96;
  std::vector<std::size_t> lengths{1, 31, 32, 33, 127, 128, 129};
  if (!on_rtl()) {
    lengths.push_back(4096);
  }
  const std::size_t most = lengths.back() * piece;
  const OwnedMemory from = memory(MemoryKind::host, most + page);
  const OwnedMemory to = memory(MemoryKind::device, most + page);
  write_pattern(from.get(), most + page, 34);
  for (const std::size_t start : {std::size_t{1}, page - 32, page - 1}) {
    for (const std::size_t count : lengths) {
      const Bytes before = pattern(count * piece + 1, count + start);
      upload(to.get(), before);
      ASSERT_EQ(ZE_RESULT_SUCCESS, run([&](ze_command_list_handle_t list) {
                  for (std::size_t i = 0; i < count; ++i) {
                    ASSERT_EQ(ZE_RESULT_SUCCESS,
                              zeCommandListAppendMemoryCopy(list, to.bytes() + i * piece,
                                                            from.bytes() + start + i * piece, piece, nullptr,
                                                            0, nullptr));
                  }
                }));
      const Bytes found = download(to.get(), before.size());
      EXPECT_TRUE(same_bytes(from.bytes() + start, found.data(), count * piece))
          << count << " copies from byte " << start << " of a page";
      EXPECT_EQ(before.back(), found.back());
    }
  }
}

}  // namespace
}  // namespace datum::test
