// Ownership of one range of mapped memory.
#pragma once

#include <cstddef>
#include <span>
#include <sys/mman.h>
#include <utility>

namespace datum {

class Mapping {
 public:
  Mapping() noexcept = default;

  /// Takes over [`base`, `base` + `bytes`), which mmap returned.
  Mapping(void* base, std::size_t bytes) noexcept : base_(base), bytes_(bytes) {}

  Mapping(Mapping&& other) noexcept
      : base_(std::exchange(other.base_, nullptr)), bytes_(std::exchange(other.bytes_, 0)) {}

  Mapping& operator=(Mapping&& other) noexcept {
    if (this != &other) {
      unmap();
      base_ = std::exchange(other.base_, nullptr);
      bytes_ = std::exchange(other.bytes_, 0);
    }
    return *this;
  }

  Mapping(const Mapping&) = delete;
  Mapping& operator=(const Mapping&) = delete;

  ~Mapping() { unmap(); }

  [[nodiscard]] bool valid() const noexcept { return base_ != nullptr; }

  [[nodiscard]] std::byte* data() const noexcept { return static_cast<std::byte*>(base_); }

  [[nodiscard]] std::size_t size_bytes() const noexcept { return bytes_; }

  [[nodiscard]] std::span<std::byte> span() const noexcept { return {data(), bytes_}; }

 private:
  void unmap() noexcept {
    if (base_ != nullptr) {
      ::munmap(base_, bytes_);
    }
  }

  void* base_ = nullptr;
  std::size_t bytes_ = 0;
};

}  // namespace datum
