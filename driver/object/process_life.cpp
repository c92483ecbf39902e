#include "driver/object/process_life.hpp"

#include <atomic>
#include <pthread.h>
#include <sys/mman.h>
#include <time.h>

namespace datum {
namespace {

// The kernel gives a child zeroes instead of this page, so both words are right in it without any handler
// having run.
struct LifePage {
  std::atomic<std::uint32_t> life{0};
  std::atomic<std::uint32_t> locked{0};
};

constexpr std::size_t life_page_bytes = 4096;

constinit std::atomic<LifePage*> life_page{nullptr};
constinit std::atomic<std::uint32_t> latest_life{0};
// Takes the page's place where it cannot be had; ProcessLock works without memory.
constinit LifePage spare_page;

void forget_life_in_child() {
  LifePage* page = life_page.load(std::memory_order_relaxed);
  page->life.store(0, std::memory_order_relaxed);
  page->locked.store(0, std::memory_order_relaxed);
}

LifePage* make_page() noexcept {
  void* memory = ::mmap(nullptr, life_page_bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS, -1, 0);
  const bool mapped = memory != MAP_FAILED;
  const bool wiped = mapped && ::madvise(memory, life_page_bytes, MADV_WIPEONFORK) == 0;
  LifePage* page = mapped ? new (memory) LifePage : &spare_page;
  LifePage* expected = nullptr;
  if (!life_page.compare_exchange_strong(expected, page, std::memory_order_acq_rel)) {
    if (mapped) {
      ::munmap(memory, life_page_bytes);
    }
    return expected;
  }
  if (!wiped) {
    ::pthread_atfork(nullptr, nullptr, forget_life_in_child);
  }
  return page;
}

LifePage& page() noexcept {
  LifePage* known = life_page.load(std::memory_order_acquire);
  return known != nullptr ? *known : *make_page();
}

}  // namespace

std::uint32_t process_life() noexcept {
  const LifePage* known = life_page.load(std::memory_order_acquire);
  return known != nullptr ? known->life.load(std::memory_order_acquire) : 0;
}

void begin_process_life() noexcept {
  LifePage& mine = page();
  if (mine.life.load(std::memory_order_acquire) == 0) {
    std::uint32_t none = 0;
    const std::uint32_t next = latest_life.fetch_add(1, std::memory_order_relaxed) + 1;
    mine.life.compare_exchange_strong(none, next, std::memory_order_acq_rel);
  }
}

bool forked_without_life() noexcept {
  return latest_life.load(std::memory_order_relaxed) != 0 && process_life() == 0;
}

ProcessLock::ProcessLock() noexcept {
  LifePage& mine = page();
  std::uint32_t open = 0;
  while (!mine.locked.compare_exchange_weak(open, 1, std::memory_order_acquire)) {
    open = 0;
    // Opening a simulated board takes a while; nobody waits here in a path that has to be fast.
    const timespec pause{0, 200'000};
    ::nanosleep(&pause, nullptr);
  }
}

ProcessLock::~ProcessLock() { page().locked.store(0, std::memory_order_release); }

}  // namespace datum
