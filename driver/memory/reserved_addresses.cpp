#include "driver/memory/reserved_addresses.hpp"

#include <cerrno>
#include <optional>
#include <sys/mman.h>

#include <fmt/format.h>

#include <datum/base/address.hpp>

#include "driver/memory/host_limits.hpp"

namespace datum {
namespace {

// Above this a range gets a reservation of its own, so that one application cannot use up the window for all.
constexpr std::uint64_t most_window_bytes = 1ULL << 30U;
constexpr int reservation_flags = MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE;

/// 0: not to be had there. The address is a hint, which the kernel follows where nothing is mapped; a fixed
/// address would be one that ThreadSanitizer cannot refuse and has no shadow for.
std::uintptr_t reserve_at(std::uintptr_t wanted, std::uint64_t bytes) noexcept {
  // Where the processor has 57-bit addresses, such a hint is what makes the kernel use them; the registry
  // has 47.
  if (wanted >= ReservedAddresses::most_bytes || bytes > ReservedAddresses::most_bytes - wanted) {
    return 0;
  }
  void* memory = ::mmap(reinterpret_cast<void*>(wanted), bytes, PROT_NONE, reservation_flags, -1, 0);
  if (memory == MAP_FAILED) {
    return 0;
  }
  if (reinterpret_cast<std::uintptr_t>(memory) != wanted) {
    ::munmap(memory, bytes);
    return 0;
  }
  return wanted;
}

/// 0: not to be had.
std::uintptr_t reserve_anywhere(std::uint64_t bytes, std::uint64_t alignment) noexcept {
  const std::uint64_t more = alignment - small_page_bytes;
  void* memory = ::mmap(nullptr, bytes + more, PROT_NONE, reservation_flags, -1, 0);
  if (memory == MAP_FAILED) {
    return 0;
  }
  const auto first = reinterpret_cast<std::uintptr_t>(memory);
  const std::uint64_t base = align_up(first, alignment);
  if (base != first) {
    ::munmap(memory, base - first);
  }
  if (const std::uint64_t tail = first + bytes + more - (base + bytes); tail != 0) {
    ::munmap(reinterpret_cast<void*>(base + bytes), tail);
  }
  return base;
}

}  // namespace

Result<std::shared_ptr<ReservedAddresses>>
ReservedAddresses::reserve(AddressWindow& window, std::uintptr_t wanted, std::uint64_t bytes) {
  struct Makeable : ReservedAddresses {};

  std::shared_ptr<ReservedAddresses> reserved = std::make_shared<Makeable>();
  const std::uint64_t alignment = bytes >= large_page_bytes ? large_page_bytes : small_page_bytes;
  const auto from_window = [&](std::uintptr_t at) {
    if (const std::optional<AddressRange> range = window.take_exact(bytes, alignment, at)) {
      reserved->window_ = &window;
      reserved->range_ = *range;
    }
    return reserved->window_ != nullptr;
  };
  const auto of_its_own = [&](std::uintptr_t base) {
    if (base != 0) {
      reserved->range_ = {base, bytes, AddressRange::no_slab, 0, 0};
    }
    return base != 0;
  };
  const bool in_window = wanted != 0 && window.overlaps(wanted, bytes);
  const bool done =
      (wanted != 0 && (in_window ? from_window(wanted) : of_its_own(reserve_at(wanted, bytes)))) ||
      (bytes <= most_window_bytes && from_window(0)) || of_its_own(reserve_anywhere(bytes, alignment)) ||
      from_window(0);
  if (!done) {
    return Error{
        ErrorCode::out_of_host_memory, ENOMEM,
        fmt::format("{} bytes of virtual addresses were asked for, and the process has no such range "
                    "left; the limit of address space is {}",
                    bytes, address_space_limit()),
        "free reservations, or raise the limit of address space (ulimit -v)"};
  }
  return reserved;
}

ReservedAddresses::~ReservedAddresses() {
  if (range_.bytes == 0) {
    return;
  }
  if (window_ == nullptr) {
    ::munmap(reinterpret_cast<void*>(range_.base), range_.bytes);
    return;
  }
  // Without its reservation back the range could be taken by anybody: it is then lost for the window.
  if (AddressWindow::release_pages(range_.base, range_.bytes).ok()) {
    window_->release(range_);
  }
}

}  // namespace datum
