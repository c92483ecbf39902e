#include "driver/memory/moved_pages.hpp"

#include <algorithm>
#include <atomic>
#include <cerrno>
#include <cstdint>
#include <fcntl.h>
#include <linux/userfaultfd.h>
#include <sys/ioctl.h>
#include <sys/mman.h>
#include <sys/syscall.h>
#include <unistd.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/address.hpp>
#include <datum/base/private_fd.hpp>
#include <datum/base/unique_fd.hpp>

#include "driver/memory/host_limits.hpp"

namespace datum {
namespace {

/// Moved at a time, so that nobody waits for long, and that without a hold hardly anything is written
/// meanwhile.
constexpr std::size_t piece_bytes = 64UL * 1024;
constexpr std::size_t word_bytes = sizeof(std::uint64_t);

Error cannot_move(std::size_t bytes) {
  return no_host_memory(
      fmt::format("{} bytes of host memory cannot be moved into a file of their own", bytes), errno);
}

std::span<std::uint64_t> words_of(std::span<std::byte> bytes) noexcept {
  return {reinterpret_cast<std::uint64_t*>(bytes.data()), bytes.size() / word_bytes};
}

std::uint64_t load(std::uint64_t& word) noexcept {
  return std::atomic_ref(word).load(std::memory_order_relaxed);
}

/// All ones in each byte that differs.
std::uint64_t differing_bytes(std::uint64_t one, std::uint64_t other) noexcept {
  std::uint64_t mask = 0;
  for (unsigned shift = 0; shift < 64; shift += 8) {
    mask |= ((one ^ other) >> shift & 0xff) != 0 ? std::uint64_t{0xff} << shift : 0;
  }
  return mask;
}

/// Takes over each byte of `old` that is not as it was copied, unless the new one was written since. Threads
/// may write meanwhile.
void merge(std::span<std::uint64_t> old, std::span<std::uint64_t> copied,
           std::span<std::uint64_t> now) noexcept {
  for (std::size_t index = 0; index < old.size(); ++index) {
    const std::uint64_t late = load(old[index]);
    if (late == copied[index]) {
      continue;
    }
    std::atomic_ref word(now[index]);
    std::uint64_t current = word.load(std::memory_order_relaxed);
    std::uint64_t wanted = 0;
    do {
      const std::uint64_t taken =
          differing_bytes(late, copied[index]) & ~differing_bytes(current, copied[index]);
      wanted = (current & ~taken) | (late & taken);
    } while (!word.compare_exchange_weak(current, wanted, std::memory_order_relaxed));
    copied[index] = late;
  }
}

constexpr int user_code_only = 1;  // UFFD_USER_MODE_ONLY, which not all headers have

uffdio_range range_of(std::span<std::byte> pages) noexcept {
  return {reinterpret_cast<std::uintptr_t>(pages.data()), pages.size()};
}

}  // namespace

/// Makes whoever writes to pages wait. Who waits goes on when the hold ends, too.
class HeldWrites {
 public:
  HeldWrites(std::span<std::byte> pages, WriteHold hold) {
    for (const int flags : {0, user_code_only}) {
      const bool tried = flags == 0 ? hold == WriteHold::wanted : hold != WriteHold::none;
      if (tried && !kernel_.valid()) {
        open(pages, flags);
      }
    }
  }

  [[nodiscard]] bool possible() const noexcept { return kernel_.valid(); }

  /// A part of the pages: who writes to it from here on waits. False: nobody does.
  [[nodiscard]] bool begin(std::span<std::byte> part) const noexcept {
    uffdio_writeprotect protect{};
    protect.range = range_of(part);
    protect.mode = UFFDIO_WRITEPROTECT_MODE_WP;
    return kernel_.valid() && ::ioctl(kernel_.get(), UFFDIO_WRITEPROTECT, &protect) == 0;
  }

  /// Other pages have taken the part's place, and the waiting go on to these.
  void send_on(std::span<std::byte> part) const noexcept {
    uffdio_range range = range_of(part);
    if (kernel_.valid()) {
      ::ioctl(kernel_.get(), UFFDIO_WAKE, &range);
    }
  }

 private:
  void open(std::span<std::byte> pages, int flags) {
    UniqueFd kernel(private_fd(static_cast<int>(::syscall(SYS_userfaultfd, O_CLOEXEC | O_NONBLOCK | flags))));
    uffdio_api api{};
    api.api = UFFD_API;
    api.features = UFFD_FEATURE_PAGEFAULT_FLAG_WP | UFFD_FEATURE_WP_HUGETLBFS_SHMEM;
    uffdio_register range{};
    range.range = range_of(pages);
    range.mode = UFFDIO_REGISTER_MODE_WP;
    if (kernel.valid() && ::ioctl(kernel.get(), UFFDIO_API, &api) == 0 &&
        ::ioctl(kernel.get(), UFFDIO_REGISTER, &range) == 0) {
      kernel_ = std::move(kernel);
    }
  }

  UniqueFd kernel_;
};

namespace {

Mapping map_anywhere(std::size_t bytes, int flags, int file) {
  void* base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, flags, file, 0);
  return base == MAP_FAILED ? Mapping{} : Mapping{base, bytes};
}

/// Other threads use the pages meanwhile, so this is the bare system call: ThreadSanitizer takes the
/// library's mmap for a write to every byte, and would report the application's threads.
bool replace_pages(std::span<std::byte> pages, int file, std::size_t offset) noexcept {
  return ::syscall(SYS_mmap, pages.data(), pages.size(), PROT_READ | PROT_WRITE, MAP_SHARED | MAP_FIXED, file,
                   offset) != -1;
}

}  // namespace

Result<std::unique_ptr<MovedPages>> MovedPages::move(std::span<std::byte> pages, int file, WriteHold hold) {
  std::unique_ptr<MovedPages> moved(new MovedPages);
  moved->pages_ = pages;
  moved->fresh_ = map_anywhere(pages.size(), MAP_SHARED, file);
  moved->snapshot_ = map_anywhere(pages.size(), MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1);
  // An old size of 0 makes a second mapping of shared pages.
  void* old = ::mremap(pages.data(), 0, pages.size(), MREMAP_MAYMOVE);
  if (!moved->fresh_.valid() || !moved->snapshot_.valid() || old == MAP_FAILED) {
    if (old != MAP_FAILED) {
      ::munmap(old, pages.size());
    }
    return cannot_move(pages.size());
  }
  moved->old_ = static_cast<std::byte*>(old);
  const HeldWrites held(pages, hold);
  moved->held_writes_ = held.possible();
  if (Status done = moved->move_pieces(file, held); !done.ok()) {
    moved->copy_back();
    return std::move(done).error();
  }
  moved->fresh_ = Mapping{};
  return moved;
}

Status MovedPages::move_pieces(int file, const HeldWrites& held) {
  while (moved_bytes_ < pages_.size()) {
    const std::size_t at = moved_bytes_;
    const std::size_t bytes = std::min(piece_bytes, pages_.size() - at);
    const std::span<std::byte> part = pages_.subspan(at, bytes);
    held_writes_ = held.begin(part) && held_writes_;
    const auto before = words_of({old_ + at, bytes});
    const auto copied = words_of(snapshot_.span().subspan(at, bytes));
    const auto after = words_of(fresh_.span().subspan(at, bytes));
    for (std::size_t index = 0; index < before.size(); ++index) {
      copied[index] = load(before[index]);
      after[index] = copied[index];
    }
    if (!replace_pages(part, file, at)) {
      return cannot_move(pages_.size());
    }
    held.send_on(part);
    moved_bytes_ += bytes;
    merge(before, copied, after);
  }
  return {};
}

/// What was written to the pages that had moved already goes to the old ones.
void MovedPages::copy_back() noexcept {
  const auto before = words_of({old_, moved_bytes_});
  const auto copied = words_of(snapshot_.span().first(moved_bytes_));
  const auto after = words_of(fresh_.span().first(moved_bytes_));
  for (std::size_t index = 0; index < before.size(); ++index) {
    if (const std::uint64_t now = load(after[index]); now != copied[index]) {
      before[index] = now;
    }
  }
}

void MovedPages::take_over_late_writes() noexcept {
  merge(words_of({old_, pages_.size()}), words_of(snapshot_.span()), words_of(pages_));
  snapshot_ = Mapping{};
}

bool MovedPages::restore() noexcept {
  if (moved_bytes_ != 0) {
    void* back = ::mremap(old_, moved_bytes_, moved_bytes_, MREMAP_MAYMOVE | MREMAP_FIXED, pages_.data());
    if (back == MAP_FAILED) {
      return false;
    }
  }
  if (old_ != nullptr && moved_bytes_ < pages_.size()) {
    ::munmap(old_ + moved_bytes_, pages_.size() - moved_bytes_);
  }
  old_ = nullptr;
  moved_bytes_ = 0;
  return true;
}

MovedPages::~MovedPages() { static_cast<void>(restore()); }

}  // namespace datum
