// An array of fixed size that begins as zero bits and costs nothing where it was never touched.
#pragma once

#include <cstddef>
#include <new>
#include <sys/mman.h>
#include <type_traits>

#include <datum/base/mapping.hpp>

namespace datum {

/// For tables of pages in size of which a program uses a small part: the elements are pages of their own from
/// the kernel. A vector would write every element first, and so would calloc where malloc had the memory
/// before; each page would be a page fault. `T` is one of which all bits zero is the value to begin with.
template <typename T>
class ZeroedArray {
  static_assert(std::is_trivially_copyable_v<T> && std::is_trivially_destructible_v<T>);

 public:
  /// std::bad_alloc: there is no memory for it.
  explicit ZeroedArray(std::size_t size) {
    if (size == 0) {
      return;
    }
    const std::size_t bytes = size * sizeof(T);
    void* const pages = ::mmap(nullptr, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (pages == MAP_FAILED) {
      throw std::bad_alloc();
    }
    memory_ = Mapping(pages, bytes);
  }

  [[nodiscard]] std::size_t size() const noexcept { return memory_.size_bytes() / sizeof(T); }

  [[nodiscard]] T* data() noexcept { return reinterpret_cast<T*>(memory_.data()); }

  [[nodiscard]] const T* data() const noexcept { return reinterpret_cast<const T*>(memory_.data()); }

  [[nodiscard]] T* begin() noexcept { return data(); }

  [[nodiscard]] T* end() noexcept { return data() + size(); }

  [[nodiscard]] T& operator[](std::size_t index) noexcept { return data()[index]; }

  [[nodiscard]] const T& operator[](std::size_t index) const noexcept { return data()[index]; }

 private:
  Mapping memory_;
};

}  // namespace datum
