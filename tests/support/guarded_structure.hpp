// A structure of the API whose last byte is the last of a page, with a page behind it that nobody may touch.
#pragma once

#include <cstdint>
#include <cstring>
#include <new>
#include <sys/mman.h>
#include <type_traits>
#include <unistd.h>

#include <datum/base/mapping.hpp>

namespace datum::test {

/// A read or write behind the structure ends the process.
template <class Structure>
class Guarded {
  static_assert(std::is_trivially_copyable_v<Structure>);

 public:
  explicit Guarded(const Structure& value = {}) {
    const auto page = static_cast<std::size_t>(::sysconf(_SC_PAGESIZE));
    const std::size_t room = (sizeof(Structure) + page - 1) / page * page;
    void* base = ::mmap(nullptr, room + page, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
    if (base == MAP_FAILED) {
      throw std::bad_alloc();
    }
    memory_ = Mapping(base, room + page);
    static_cast<void>(::mprotect(static_cast<char*>(base) + room, page, PROT_NONE));
    structure_ = new (static_cast<char*>(base) + room - sizeof(Structure)) Structure(value);
  }

  [[nodiscard]] Structure* get() const { return structure_; }

  Structure& operator*() const { return *structure_; }

  Structure* operator->() const { return structure_; }

 private:
  Mapping memory_;
  Structure* structure_ = nullptr;
};

}  // namespace datum::test
