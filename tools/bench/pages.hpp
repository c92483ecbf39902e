// Ordinary memory for measurements of mapping: touched, of one kind of page.
#pragma once

#include <cstddef>
#include <cstring>
#include <string>
#include <sys/mman.h>

#include <datum/base/address.hpp>
#include <datum/base/mapping.hpp>

#include "tools/bench/session.hpp"

namespace datum::bench {

enum class PageKind { small, huge };

inline constexpr std::size_t mapped_sizes[] = {2U << 20U, 16U << 20U};

/// "map_16m_of_4k_pages".
[[nodiscard]] inline std::string mapping_name(std::size_t bytes, PageKind kind) {
  return "map_" + std::to_string(bytes >> 20U) +
         (kind == PageKind::small ? "m_of_4k_pages" : "m_of_2m_pages");
}

/// Begins at a multiple of 2 MiB. Huge pages are a wish: the kernel may have none left.
class Pages {
 public:
  Pages(std::size_t bytes, PageKind kind) : whole_(fresh(bytes + large_page_bytes)), bytes_(bytes) {
    ::madvise(whole_.data(), whole_.size_bytes(), kind == PageKind::huge ? MADV_HUGEPAGE : MADV_NOHUGEPAGE);
    std::memset(data(), 1, bytes);
  }

  [[nodiscard]] std::byte* data() const noexcept {
    return reinterpret_cast<std::byte*>(
        align_up(reinterpret_cast<std::uintptr_t>(whole_.data()), large_page_bytes));
  }

  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }

 private:
  static Mapping fresh(std::size_t bytes) {
    void* const base = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
      throw Failure("no memory for the measurement");
    }
    return {base, bytes};
  }

  Mapping whole_;
  std::size_t bytes_;
};

}  // namespace datum::bench
