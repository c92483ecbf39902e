#include "driver/memory/host_pool.hpp"

#include <algorithm>
#include <cerrno>
#include <charconv>
#include <cstdio>
#include <cstring>
#include <fcntl.h>
#include <string>
#include <string_view>
#include <sys/mman.h>
#include <sys/resource.h>
#include <unistd.h>

#include <fmt/format.h>

#include <datum/base/memory_file.hpp>
#include <datum/base/mutex.hpp>

#include "driver/device/limits.hpp"
#include "driver/memory/control_group.hpp"
#include "driver/memory/dma_map.hpp"
#include "driver/memory/host_limits.hpp"
#include "driver/memory/ipc_handle.hpp"

namespace datum {
namespace {

// The board's memory is pinned: more than the system can give now would only end processes. Small pieces are
// not worth the look.
constexpr std::uint64_t worth_a_look_bytes = 64ULL << 20U;

/// What the kernel says it could give without swapping; all ones where it does not say.
std::uint64_t available_bytes() noexcept {
  std::uint64_t kib = ~0ULL / 1024;
  if (std::FILE* file = std::fopen("/proc/meminfo", "re")) {
    constexpr std::string_view name = "MemAvailable:";
    char line[128];
    while (std::fgets(line, sizeof(line), file) != nullptr) {
      std::string_view text = line;
      if (text.starts_with(name)) {
        text.remove_prefix(std::min(text.find_first_not_of(' ', name.size()), text.size()));
        std::from_chars(text.data(), text.data() + text.size(), kib);
        break;
      }
    }
    std::fclose(file);
  }
  return kib * 1024;
}

/// The kernel gives all pages of the file now. 0, or an errno.
int commit_file(int fd, std::uint64_t bytes) noexcept {
  int error = 0;
  do {
    error = ::fallocate(fd, 0, 0, static_cast<off_t>(bytes)) == 0 ? 0 : errno;
  } while (error == EINTR);
  return error;
}

/// Cannot shrink or grow. A file that may be shared one day bears the name of such.
Result<UniqueFd> make_file(std::uint64_t bytes, bool shareable, bool committed) {
  std::string name = "datum-host";
  if (shareable) {
    Result<IpcToken> token = make_ipc_token();
    if (!token.ok()) {
      return std::move(token).error();
    }
    name = shared_file_label(SharedKind::host, *token);
  }
  UniqueFd file = make_memory_file(name.c_str());
  int error = file.valid() ? resize_memory_file(file.get(), bytes) : errno;
  if (error == 0 && committed) {
    error = commit_file(file.get(), bytes);
  }
  if (error == 0 && ::fcntl(file.get(), F_ADD_SEALS, F_SEAL_SHRINK | F_SEAL_GROW) != 0) {
    error = errno;
  }
  if (error != 0) {
    return no_host_memory(fmt::format("no file for {} bytes of host memory", bytes), error);
  }
  return file;
}

}  // namespace

Result<std::unique_ptr<HostPiece>> HostPiece::create(AddressWindow& window, std::uint64_t bytes,
                                                     std::uint64_t alignment, bool shareable) {
  std::unique_ptr<HostPiece> piece(new HostPiece(window));
  if (Status built = piece->build(bytes, alignment, shareable); !built.ok()) {
    return std::move(built).error();
  }
  piece->shareable_ = shareable;
  return piece;
}

Status HostPiece::build(std::uint64_t bytes, std::uint64_t alignment, bool shareable) {
  if (bytes >= worth_a_look_bytes) {
    if (const std::uint64_t available = available_bytes(); bytes > available) {
      return make_error(ErrorCode::out_of_host_memory,
                        fmt::format("{} bytes of host memory were asked for and the system has {} available",
                                    bytes, available),
                        "free memory of the machine, or ask for less");
    }
  }
  const Result<bool> at_once = control_groups().admit(bytes);
  if (!at_once.ok()) {
    return at_once.error();
  }
  if (Status placed = place(bytes, alignment); !placed.ok()) {
    return placed;
  }
  Result<UniqueFd> made = make_file(bytes, shareable, *at_once);
  if (!made.ok()) {
    return std::move(made).error();
  }
  file_ = std::move(*made);
  return map();
}

Result<std::unique_ptr<HostPiece>> HostPiece::adopt(AddressWindow& window, std::uint64_t bytes,
                                                    UniqueFd file) {
  std::unique_ptr<HostPiece> piece(new HostPiece(window));
  if (Status placed = piece->place(bytes, small_page_bytes); !placed.ok()) {
    return std::move(placed).error();
  }
  piece->file_ = std::move(file);
  if (Status mapped = piece->map(); !mapped.ok()) {
    return std::move(mapped).error();
  }
  return piece;
}

Status HostPiece::place(std::uint64_t bytes, std::uint64_t alignment) {
  Result<AddressRange> range = window_.take(bytes, alignment);
  if (!range.ok()) {
    return std::move(range).error();
  }
  range_ = *range;
  reserved_ = true;
  bytes_ = bytes;
  return {};
}

Status HostPiece::map() {
  void* host = ::mmap(reinterpret_cast<void*>(range_.base), bytes_, PROT_READ | PROT_WRITE,
                      MAP_SHARED | MAP_FIXED, file_.get(), 0);
  if (host == MAP_FAILED) {
    return no_host_memory(fmt::format("{} bytes of host memory cannot be mapped", bytes_), errno);
  }
  mapped_ = true;
  host_ = static_cast<std::byte*>(host);
  if (bytes_ >= large_page_bytes) {
    ::madvise(host, bytes_, MADV_HUGEPAGE);  // a wish; small pages serve as well
  }
  return {};
}

HostPiece::~HostPiece() {
  while (!boards_.empty()) {
    unmap_for(*boards_.back().dma);
  }
  // Without its reservation back the range could be taken by anybody: it is then lost for the window.
  const bool clean = !mapped_ || AddressWindow::release_pages(range_.base, bytes_).ok();
  if (reserved_ && clean) {
    window_.release(range_);
  }
}

bool HostPiece::is_mapped_for(const DmaMap& dma) const noexcept {
  const ScopedLock lock(boards_mutex_);
  return std::any_of(boards_.begin(), boards_.end(),
                     [&](const BoardMapping& mapping) { return mapping.dma == &dma; });
}

Status HostPiece::map_for(DmaMap& dma) {
  if (is_mapped_for(dma)) {
    return {};
  }
  const ScopedLock mapping(mapping_mutex_);
  // cppcheck-suppress identicalConditionAfterEarlyExit
  if (is_mapped_for(dma)) {  // by another thread meanwhile
    return {};
  }
  {
    const ScopedLock lock(boards_mutex_);
    boards_.reserve(boards_.size() + 1);
  }
  const std::span host(host_, align_up(bytes_, dma.granule_bytes()));
  const bool by_file = file_.valid() && host.size() == bytes_;
  Result<Iova> iova = by_file ? dma.map_file(host, file_.get(), board::DmaAccess::read_write)
                              : dma.map(host, board::DmaAccess::read_write);
  if (!iova.ok()) {
    return std::move(iova).error();
  }
  const ScopedLock lock(boards_mutex_);
  boards_.push_back({&dma, *iova});  // for which there is room: only the holder of mapping_mutex_ adds
  return {};
}

Status HostPiece::map_for_all(std::span<DmaMap* const> maps) {
  for (DmaMap* dma : maps) {
    if (Status mapped = map_for(*dma); !mapped.ok()) {
      return mapped;
    }
  }
  return {};
}

void HostPiece::unmap_for(DmaMap& dma) noexcept {
  std::optional<Iova> iova;
  {
    const ScopedLock lock(boards_mutex_);
    const auto found = std::find_if(boards_.begin(), boards_.end(),
                                    [&](const BoardMapping& mapping) { return mapping.dma == &dma; });
    if (found != boards_.end()) {
      iova = found->iova;
      boards_.erase(found);
    }
  }
  if (iova) {
    dma.unmap(*iova, align_up(bytes_, dma.granule_bytes()));
  }
}

std::size_t HostPiece::board_count() noexcept {
  const ScopedLock mapping(mapping_mutex_);
  const ScopedLock lock(boards_mutex_);
  return boards_.size();
}

Iova HostPiece::iova(const DmaMap& dma) const noexcept {
  const ScopedLock lock(boards_mutex_);
  for (const BoardMapping& mapping : boards_) {
    if (mapping.dma == &dma) {
      return mapping.iova;
    }
  }
  return Iova{};
}

void HostPool::add_slab(std::unique_ptr<HostPiece> piece) {
  auto owners = std::make_unique<PageOwners>();
  slabs_.reserve(slabs_.size() + 1);
  owners_.reserve(owners_.size() + 1);
  const std::uint32_t slab = blocks_.add_slab();  // from here on nothing may fail: others see the slab
  if (slab >= slabs_.size()) {
    slabs_.resize(slab + 1);
    owners_.resize(slab + 1);
  }
  slabs_[slab] = std::move(piece);
  owners_[slab] = std::move(owners);
}

/// Clears what somebody else left in the block. True: nobody had any of it before.
bool HostPool::hand_over(const BuddyBlock& block, std::uint32_t owner) noexcept {
  std::byte* host = slabs_[block.slab]->host() + block.page * small_page_bytes;
  bool unused_before = true;
  for (std::uint32_t& had :
       std::span(*owners_[block.slab]).subspan(block.page, std::size_t{1} << block.order)) {
    if (had != owner && had != owner_nobody) {
      std::memset(host, 0, small_page_bytes);
    }
    unused_before = unused_before && had == owner_nobody;
    had = owner;
    host += small_page_bytes;
  }
  return unused_before;
}

/// The caller holds the lock.
std::optional<HostPages> HostPool::take_free_block(unsigned order, std::uint32_t owner) noexcept {
  const std::optional<BuddyBlock> block = blocks_.take(order);
  if (!block) {
    return std::nullopt;
  }
  const bool unused_before = hand_over(*block, owner);
  if (block->slab == spare_slab_) {
    spare_slab_ = AddressRange::no_slab;
  }
  HostPiece* piece = slabs_[block->slab].get();
  return HostPages{
      piece,        piece->host() + block->page * small_page_bytes, small_page_bytes << order, *block, false,
      unused_before};
}

/// Nobody else sees the slab before the boards do, so nobody waits for its mapping who has room elsewhere.
Result<HostPages> HostPool::take_from_new_slab(unsigned order, std::uint32_t owner,
                                               std::span<DmaMap* const> maps) {
  Result<std::unique_ptr<HostPiece>> piece = HostPiece::create(window_, piece_bytes, piece_bytes);
  if (!piece.ok()) {
    return std::move(piece).error();
  }
  if (Status mapped = (*piece)->map_for_all(maps); !mapped.ok()) {
    return std::move(mapped).error();
  }
  (*piece)->close_file();
  const ScopedLock lock(mutex_);
  if (std::optional<HostPages> pages = take_free_block(order, owner)) {
    return *pages;  // given back meanwhile: the new slab, of which nobody would have a page, goes
  }
  add_slab(std::move(*piece));
  return *take_free_block(order, owner);
}

Result<HostPages> HostPool::take_block(unsigned order, std::uint32_t owner, std::span<DmaMap* const> maps) {
  const auto take_free = [&] {
    const ScopedLock lock(mutex_);
    return take_free_block(order, owner);
  };
  if (std::optional<HostPages> pages = take_free()) {
    return *pages;
  }
  const ScopedLock growing(growing_mutex_);
  if (std::optional<HostPages> pages = take_free()) {
    return *pages;  // of the slab that was waited for, or given back meanwhile
  }
  return take_from_new_slab(order, owner, maps);
}

/// A slab that is not to be kept is the caller's, to end it without the lock.
std::unique_ptr<HostPiece> HostPool::release_block(const HostPages& pages) noexcept {
  const ScopedLock lock(mutex_);
  if (!blocks_.release(pages.block)) {
    return {};
  }
  if (spare_slab_ != AddressRange::no_slab && spare_slab_ != pages.block.slab) {
    blocks_.remove_slab(pages.block.slab);
    owners_[pages.block.slab].reset();
    return std::move(slabs_[pages.block.slab]);
  }
  spare_slab_ = pages.block.slab;
  return {};
}

Result<HostPages> HostPool::take_small(std::uint64_t whole, std::uint64_t alignment,
                                       std::span<DmaMap* const> maps, std::uint32_t owner) {
  Result<HostPages> pages =
      take_block(buddy_order(whole, std::max(alignment, small_page_bytes)), owner, maps);
  if (!pages.ok()) {
    return pages;
  }
  try {
    if (Status mapped = pages->piece->map_for_all(maps); !mapped.ok()) {
      release(*pages);
      return std::move(mapped).error();
    }
  } catch (...) {
    release(*pages);
    throw;
  }
  return pages;
}

/// The kernel takes its time over a large piece, page by page; others are served meanwhile.
Result<HostPages> HostPool::take_large(std::uint64_t whole, std::uint64_t alignment,
                                       std::span<DmaMap* const> maps) {
  const bool wish_for_file = [&] {
    const ScopedLock lock(mutex_);
    return may_keep_file();
  }();
  Result<std::unique_ptr<HostPiece>> piece = HostPiece::create(window_, whole, alignment, wish_for_file);
  if (!piece.ok()) {
    return std::move(piece).error();
  }
  if (Status mapped = (*piece)->map_for_all(maps); !mapped.ok()) {
    return std::move(mapped).error();
  }
  const ScopedLock lock(mutex_);
  if (!(*piece)->has_file() || !may_keep_file()) {
    (*piece)->close_file();
  }
  large_.push_back(std::move(*piece));
  kept_files_ += large_.back()->has_file() ? 1 : 0;
  return HostPages{large_.back().get(), large_.back()->host(), whole, {}, true, true};
}

Result<HostPages> HostPool::take(std::uint64_t bytes, std::uint64_t alignment, std::span<DmaMap* const> maps,
                                 std::uint32_t owner) {
  const std::uint64_t whole = align_up(bytes, small_page_bytes);
  const bool small = whole <= piece_bytes / 2 && alignment <= piece_bytes / 2;
  return small ? take_small(whole, alignment, maps, owner) : take_large(whole, alignment, maps);
}

void HostPool::release(const HostPages& pages) noexcept {
  std::unique_ptr<HostPiece> gone;  // ends without the lock
  if (!pages.whole_piece) {
    gone = release_block(pages);
    return;
  }
  const ScopedLock lock(mutex_);
  const auto found = std::find_if(large_.begin(), large_.end(), [&](const std::unique_ptr<HostPiece>& piece) {
    return piece.get() == pages.piece;
  });
  if (found != large_.end()) {
    gone = std::move(*found);
    *found = std::move(large_.back());
    large_.pop_back();
    kept_files_ -= gone->has_file() ? 1 : 0;
  }
}

/// A descriptor for each large piece would use up the process's limit; without one, sharing costs a copy.
bool HostPool::may_keep_file() const noexcept {
  rlimit limit{};
  const std::size_t most =
      ::getrlimit(RLIMIT_NOFILE, &limit) == 0
          ? std::min<std::size_t>(limit.rlim_cur / limits::host_file_divisor, limits::most_host_files)
          : 0;
  return kept_files_ < most;
}

UniqueFd HostPool::take_file(const HostPages& pages) noexcept {
  const ScopedLock lock(mutex_);
  UniqueFd file = pages.whole_piece ? pages.piece->take_file() : UniqueFd{};
  kept_files_ -= file.valid() ? 1 : 0;
  return file;
}

std::size_t HostPool::board_count(const HostPages& pages) noexcept { return pages.piece->board_count(); }

void HostPool::forget_board(DmaMap& dma) noexcept {
  const ScopedLock lock(mutex_);
  for (const std::unique_ptr<HostPiece>& piece : slabs_) {
    if (piece) {
      piece->unmap_for(dma);
    }
  }
  for (const std::unique_ptr<HostPiece>& piece : large_) {
    piece->unmap_for(dma);
  }
}

}  // namespace datum
