#include "tests/support/allocations.hpp"

#include <cstddef>
#include <cstdlib>
#include <new>

namespace {

void* counted(std::size_t bytes) {
  datum::test::AllocationState& state = datum::test::allocations;
  const bool fails = state.counting && ++state.count == state.failing;
  void* memory = fails ? nullptr : std::malloc(bytes);
  if (memory == nullptr) {
    throw std::bad_alloc();
  }
  return memory;
}

}  // namespace

// NOLINTBEGIN(misc-new-delete-overloads): the aligned forms are not counted
void* operator new(std::size_t bytes) { return counted(bytes); }

void* operator new[](std::size_t bytes) { return counted(bytes); }

// Not inline: where g++ inlines these but not the others, it takes free() for the wrong partner of new.
[[gnu::noinline]] void operator delete(void* memory) noexcept { std::free(memory); }

[[gnu::noinline]] void operator delete[](void* memory) noexcept { std::free(memory); }

[[gnu::noinline]] void operator delete(void* memory, std::size_t) noexcept { std::free(memory); }

[[gnu::noinline]] void operator delete[](void* memory, std::size_t) noexcept { std::free(memory); }

// NOLINTEND(misc-new-delete-overloads)
