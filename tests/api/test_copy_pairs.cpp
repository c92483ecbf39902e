// Copies between every two sorts of memory that a program can have, the driver's own and the system's.
#include <array>
#include <cstdio>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <memory>
#include <ostream>
#include <sys/mman.h>
#include <unistd.h>

#include "tests/support/api_session.hpp"

namespace datum::test {
namespace {

/// Where bytes can lie, from the view of a program.
enum class Place {
  device,
  onchip,
  host,
  shared,
  shared_without_device,
  heap,
  stack,
  static_data,
  file_private,
  file_shared,
  file_read_only
};
constexpr std::array all_places{Place::device,
                                Place::onchip,
                                Place::host,
                                Place::shared,
                                Place::shared_without_device,
                                Place::heap,
                                Place::stack,
                                Place::static_data,
                                Place::file_private,
                                Place::file_shared,
                                Place::file_read_only};

const char* name_of_place(Place place) {
  constexpr std::array names{
      "device", "onchip",      "host",         "shared",      "shared_without_device", "heap",
      "stack",  "static_data", "file_private", "file_shared", "file_read_only"};
  return names[static_cast<std::size_t>(place)];
}

void PrintTo(Place place, std::ostream* out) { *out << name_of_place(place); }

bool writable(Place place) { return place != Place::file_read_only; }

constexpr std::size_t place_bytes = 9000;
alignas(64) std::array<unsigned char, 2 * place_bytes> static_bytes;

/// A file without a name, and a mapping of it.
class FileMapping {
 public:
  FileMapping(const Bytes& contents, int protection, int flags) : bytes_(contents.size()) {
    std::FILE* file = std::tmpfile();
    if (file == nullptr || std::fwrite(contents.data(), 1, bytes_, file) != bytes_ ||
        std::fflush(file) != 0) {
      ADD_FAILURE() << "no temporary file";
    }
    descriptor_ = ::dup(::fileno(file));
    std::fclose(file);
    int opened = descriptor_;
    if (protection == PROT_READ) {  // the descriptor too, so that nothing could write through it
      opened = ::open(("/proc/self/fd/" + std::to_string(descriptor_)).c_str(), O_RDONLY | O_CLOEXEC);
    }
    pages_ = ::mmap(nullptr, bytes_, protection, flags, opened, 0);
    if (opened != descriptor_) {
      ::close(opened);
    }
    EXPECT_NE(MAP_FAILED, pages_);
  }

  ~FileMapping() {
    ::munmap(pages_, bytes_);
    ::close(descriptor_);
  }

  FileMapping(const FileMapping&) = delete;
  FileMapping& operator=(const FileMapping&) = delete;

  [[nodiscard]] unsigned char* bytes() const { return static_cast<unsigned char*>(pages_); }

  [[nodiscard]] Bytes read_file() const {
    Bytes contents(bytes_);
    EXPECT_EQ(static_cast<ssize_t>(bytes_), ::pread(descriptor_, contents.data(), bytes_, 0));
    return contents;
  }

 private:
  std::size_t bytes_;
  int descriptor_ = -1;
  void* pages_ = nullptr;
};

using Pair = std::pair<Place, Place>;

class CopyPairs : public ApiTest, public ::testing::WithParamInterface<Pair> {
 protected:
  /// Bytes at a place; alive until the end of the test.
  struct Spot {
    Place place = Place::heap;
    unsigned char* bytes = nullptr;
    OwnedMemory owned;
    Bytes heap;
    std::unique_ptr<FileMapping> file;
  };

  void place_bytes_at(Spot& spot, Place place, const Bytes& contents, unsigned char* stack,
                      unsigned char* fixed) {
    spot.place = place;
    switch (place) {
    case Place::device:
      spot.owned = memory(MemoryKind::device, contents.size());
      break;
    case Place::onchip:
      spot.owned = memory(MemoryKind::onchip, contents.size());
      break;
    case Place::host:
      spot.owned = memory(MemoryKind::host, contents.size());
      break;
    case Place::shared:
      spot.owned = memory(MemoryKind::shared, contents.size());
      break;
    case Place::shared_without_device:
      spot.owned = memory(MemoryKind::shared_without_device, contents.size());
      break;
    case Place::heap:
      spot.heap = contents;
      spot.bytes = spot.heap.data();
      return;
    case Place::stack:
      spot.bytes = stack;
      std::memcpy(stack, contents.data(), contents.size());
      return;
    case Place::static_data:
      spot.bytes = fixed;
      std::memcpy(fixed, contents.data(), contents.size());
      return;
    case Place::file_private:
      spot.file = std::make_unique<FileMapping>(contents, PROT_READ | PROT_WRITE, MAP_PRIVATE);
      break;
    case Place::file_shared:
      spot.file = std::make_unique<FileMapping>(contents, PROT_READ | PROT_WRITE, MAP_SHARED);
      break;
    case Place::file_read_only:
      spot.file = std::make_unique<FileMapping>(contents, PROT_READ, MAP_SHARED);
      break;
    }
    if (spot.file) {
      spot.bytes = spot.file->bytes();
      return;
    }
    spot.bytes = spot.owned.bytes();
    upload(spot.bytes, contents);
  }

  [[nodiscard]] Bytes bytes_of(const Spot& spot) {
    if (spot.place == Place::device || spot.place == Place::onchip) {
      return download(spot.bytes, place_bytes);
    }
    return {spot.bytes, spot.bytes + place_bytes};
  }
};

TEST_P(CopyPairs, given_two_places_when_copied_from_one_to_the_other_then_exactly_the_asked_bytes_change) {
  const auto [from_place, to_place] = GetParam();
  std::array<unsigned char, place_bytes> stack_from{};
  std::array<unsigned char, place_bytes> stack_to{};
  const Bytes source = pattern(place_bytes, 31);
  Bytes expected = pattern(place_bytes, 32);
  Spot from;
  Spot to;
  place_bytes_at(from, from_place, source, stack_from.data(), static_bytes.data());
  place_bytes_at(to, to_place, expected, stack_to.data(), static_bytes.data() + place_bytes);

  copy(to.bytes + 77, from.bytes + 1234, 7001);
  std::memcpy(expected.data() + 77, source.data() + 1234, 7001);
  EXPECT_TRUE(same_bytes(expected, bytes_of(to)));
  EXPECT_TRUE(same_bytes(source, bytes_of(from))) << "the source is as it was";
  if (to_place == Place::file_shared) {
    EXPECT_TRUE(same_bytes(expected, to.file->read_file())) << "a shared mapping is the file";
  }
  if (to_place == Place::file_private) {
    EXPECT_TRUE(same_bytes(pattern(place_bytes, 32), to.file->read_file()))
        << "a private mapping leaves the file alone";
  }
}

std::vector<Pair> pairs() {
  std::vector<Pair> all;
  for (const Place from : all_places) {
    for (const Place to : all_places) {
      if (writable(to)) {
        all.emplace_back(from, to);
      }
    }
  }
  return all;
}

INSTANTIATE_TEST_SUITE_P(All, CopyPairs, ::testing::ValuesIn(pairs()), [](const auto& instance) {
  return std::string(name_of_place(instance.param.first)) + "_to_" + name_of_place(instance.param.second);
});

class CopyOrdinary : public ApiTest {};

TEST_F(
    CopyOrdinary,
    given_a_mapping_that_may_only_be_read_when_it_is_the_target_then_the_copy_is_refused_and_the_file_unchanged) {
  const Bytes contents = pattern(place_bytes, 41);
  const FileMapping file(contents, PROT_READ, MAP_SHARED);
  const OwnedMemory from = memory(MemoryKind::device, place_bytes);
  upload(from.get(), pattern(place_bytes, 42));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, copy_code(file.bytes(), from.get(), 100));
  EXPECT_TRUE(same_bytes(contents, file.read_file()));
  EXPECT_EQ(ZE_RESULT_SUCCESS, copy_code(from.get(), file.bytes(), 100));
}

TEST_F(CopyOrdinary, given_the_same_ordinary_memory_mapped_anew_when_copied_then_the_new_pages_are_used) {
  const OwnedMemory target = memory(MemoryKind::device, 4096);
  void* address = ::mmap(nullptr, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  ASSERT_NE(MAP_FAILED, address);
  for (std::uint64_t round = 0; round < 4; ++round) {
    write_pattern(address, 4096, round);
    copy(target.get(), address, 4096);
    ASSERT_TRUE(same_bytes(pattern(4096, round), download(target.get(), 4096))) << "round " << round;
    ASSERT_EQ(address,
              ::mmap(address, 4096, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0));
  }
  ::munmap(address, 4096);
}

TEST_F(CopyOrdinary, given_ordinary_memory_when_the_copy_is_done_then_it_can_be_unmapped_and_is_not_kept) {
  const OwnedMemory target = memory(MemoryKind::device, 1 << 16);
  for (int round = 0; round < by_board(50, 5); ++round) {
    auto* bytes = static_cast<unsigned char*>(std::malloc(1 << 16));
    write_pattern(bytes, 1 << 16, static_cast<std::uint64_t>(round));
    copy(target.get(), bytes, by_board<std::size_t>(1 << 16, 3000));
    std::free(bytes);
  }
}

TEST_F(CopyOrdinary, given_device_memory_of_another_context_when_copied_then_it_is_refused_and_not_read) {
  const OwnedContext other = create_context(driver());
  const OwnedMemory foreign = allocate(MemoryKind::device, other, device(), 4096);
  const OwnedMemory own = memory(MemoryKind::device, 4096);
  const Bytes bytes = pattern(4096, 4);
  upload(own.get(), bytes);
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, copy_code(own.get(), foreign.get(), 4096));
  EXPECT_EQ(ZE_RESULT_ERROR_INVALID_ARGUMENT, copy_code(foreign.get(), own.get(), 4096));
  EXPECT_TRUE(same_bytes(bytes, download(own.get(), 4096)));
}

}  // namespace
}  // namespace datum::test
