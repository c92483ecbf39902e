#include "driver/object/handle_table.hpp"

#include <atomic>
#include <new>
#include <sys/mman.h>

#include <datum/base/mutex.hpp>

#include "driver/object/process_life.hpp"

namespace datum {
namespace {

constexpr std::uint64_t slot_bytes = sizeof(HandleSlot);
constexpr std::uint64_t largest_window_bytes = 16ULL << 30U;  // 268 million handles
constexpr std::uint64_t modest_window_bytes = 64ULL << 20U;
constexpr std::uint64_t smallest_window_bytes = 1ULL << 20U;
constexpr std::uint64_t commit_step_bytes = 256ULL << 10U;
// A slot rests until so many others were freed after it: a stale handle stays recognisable for as long.
constexpr std::uint32_t resting_slots = 4096;
constexpr std::uint32_t no_slot = ~0U;

// Set once and for all; a child inherits them, and the parent's slots with them.
constinit std::atomic<std::uintptr_t> window_base{0};
constinit std::atomic<std::uint64_t> window_bytes{0};
constinit std::atomic<std::uint64_t> committed_bytes{0};
constinit std::atomic<std::uint32_t> next_fresh{0};
constinit ze_handle_t handle_prefix{};

/// What a child must not share: its parent's threads may have held the lock.
struct Allocator {
  Mutex mutex;
  std::uint32_t life = 0;              ///< of the process; constant
  const Allocator* parents = nullptr;  ///< which stays as it is: somebody may look at it still
  std::uint32_t first_free DATUM_GUARDED_BY(mutex) = no_slot;
  std::uint32_t last_free DATUM_GUARDED_BY(mutex) = no_slot;
  std::uint32_t free_count DATUM_GUARDED_BY(mutex) = 0;
};

constinit std::atomic<Allocator*> current_allocator{nullptr};

HandleSlot* slot_at(std::uint32_t index) noexcept {
  return reinterpret_cast<HandleSlot*>(window_base.load(std::memory_order_acquire) + index * slot_bytes);
}

std::uint32_t index_of(const HandleSlot* slot) noexcept {
  return static_cast<std::uint32_t>(
      (reinterpret_cast<std::uintptr_t>(slot) - window_base.load(std::memory_order_relaxed)) / slot_bytes);
}

/// The allocator of this process; a forked child leaves its parent's alone.
Allocator* allocator() {
  const std::uint32_t life = process_life();
  Allocator* known = current_allocator.load(std::memory_order_acquire);
  while (known == nullptr || known->life != life) {
    auto* fresh = new (std::nothrow) Allocator;
    if (fresh == nullptr) {
      return nullptr;
    }
    fresh->life = life;
    fresh->parents = known;
    if (current_allocator.compare_exchange_strong(known, fresh, std::memory_order_acq_rel)) {
      return fresh;
    }
    delete fresh;
  }
  return known;
}

bool reserve_window() noexcept {
  if (window_base.load(std::memory_order_acquire) != 0) {
    return true;
  }
  // A process with a limit of address space needs it for other things.
  for (const std::uint64_t bytes : {largest_window_bytes, modest_window_bytes, smallest_window_bytes}) {
    void* memory = ::mmap(nullptr, bytes, PROT_NONE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_NORESERVE, -1, 0);
    if (memory != MAP_FAILED) {
      window_bytes.store(bytes, std::memory_order_relaxed);
      window_base.store(reinterpret_cast<std::uintptr_t>(memory), std::memory_order_release);
      return true;
    }
  }
  return false;
}

/// Under the allocator's lock.
HandleSlot* take_fresh_slot() noexcept {
  if (!reserve_window()) {
    return nullptr;
  }
  const std::uint32_t index = next_fresh.load(std::memory_order_relaxed);
  const std::uint64_t end = (std::uint64_t{index} + 1) * slot_bytes;
  const std::uint64_t committed = committed_bytes.load(std::memory_order_relaxed);
  if (end > committed) {
    const std::uint64_t base = window_base.load(std::memory_order_relaxed);
    if (end > window_bytes.load(std::memory_order_relaxed) ||
        ::mprotect(reinterpret_cast<void*>(base + committed), commit_step_bytes, PROT_READ | PROT_WRITE) !=
            0) {
      return nullptr;
    }
    committed_bytes.store(committed + commit_step_bytes, std::memory_order_release);
  }
  next_fresh.store(index + 1, std::memory_order_relaxed);
  return new (slot_at(index)) HandleSlot;
}

HandleSlot* take_free_slot(Allocator& from) noexcept DATUM_REQUIRES(from.mutex) {
  if (from.first_free == no_slot) {
    return nullptr;
  }
  HandleSlot* slot = slot_at(from.first_free);
  from.first_free = slot->next_free;
  if (from.first_free == no_slot) {
    from.last_free = no_slot;
  }
  --from.free_count;
  return slot;
}

/// The slot that `handle` is, alive or not; null: it points elsewhere.
const HandleSlot* as_slot(const void* handle) noexcept {
  const std::uintptr_t base = window_base.load(std::memory_order_acquire);
  const std::uintptr_t offset = reinterpret_cast<std::uintptr_t>(handle) - base;
  if (base == 0 || offset >= committed_bytes.load(std::memory_order_acquire) || offset % slot_bytes != 0) {
    return nullptr;
  }
  return static_cast<const HandleSlot*>(handle);
}

template <class T>
T load(const T& field) noexcept {
  return std::atomic_ref(const_cast<T&>(field)).load(std::memory_order_acquire);
}

template <class T>
void store(T& field, T value) noexcept {
  std::atomic_ref(field).store(value, std::memory_order_release);
}

}  // namespace

void use_handle_prefix(const ze_handle_t& prefix) noexcept {
  // Several threads initialise at once, and all bring the same.
  store(handle_prefix.pCore, prefix.pCore);
  store(handle_prefix.pTools, prefix.pTools);
  store(handle_prefix.pSysman, prefix.pSysman);
  store(handle_prefix.pRuntime, prefix.pRuntime);
}

Result<HandleSlot*> register_handle(ObjectType type, void* object) {
  begin_process_life();
  Allocator* mine = allocator();
  HandleSlot* slot = nullptr;
  if (mine != nullptr) {
    const ScopedLock lock(mine->mutex);
    slot = mine->free_count > resting_slots ? take_free_slot(*mine) : take_fresh_slot();
    if (slot == nullptr) {
      slot = take_free_slot(*mine);
    }
  }
  if (slot == nullptr) {
    return make_error(ErrorCode::out_of_host_memory, "no memory for another handle");
  }
  slot->ddi = ze_handle_t{load(handle_prefix.pCore), load(handle_prefix.pTools), load(handle_prefix.pSysman),
                          load(handle_prefix.pRuntime)};
  store(slot->object, object);
  store(slot->life, process_life());
  store(slot->state, static_cast<std::uint32_t>(type));
  return slot;
}

bool unregister_handle(HandleSlot* slot) noexcept {
  if (slot == nullptr || std::atomic_ref(slot->state).exchange(0, std::memory_order_acq_rel) == 0) {
    return false;
  }
  store(slot->object, static_cast<void*>(nullptr));
  Allocator* mine = allocator();
  if (mine == nullptr || load(slot->life) != mine->life) {
    return true;
  }
  const ScopedLock lock(mine->mutex);
  const std::uint32_t index = index_of(slot);
  slot->next_free = no_slot;
  if (mine->last_free == no_slot) {
    mine->first_free = index;
  } else {
    slot_at(mine->last_free)->next_free = index;
  }
  mine->last_free = index;
  ++mine->free_count;
  return true;
}

void* find_object(ObjectType type, const void* handle) noexcept {
  const HandleSlot* slot = as_slot(handle);
  if (slot == nullptr || load(slot->state) != static_cast<std::uint32_t>(type) ||
      load(slot->life) != process_life()) {
    return nullptr;
  }
  return load(slot->object);
}

bool is_handle_of_other_process(const void* handle) noexcept {
  const HandleSlot* slot = as_slot(handle);
  return slot != nullptr && load(slot->life) != 0 && load(slot->life) != process_life();
}

std::size_t live_handles() noexcept {
  const std::uint32_t end = next_fresh.load(std::memory_order_acquire);
  std::size_t count = 0;
  for (std::uint32_t index = 0; index < end; ++index) {
    const HandleSlot& slot = *slot_at(index);
    count += load(slot.state) != 0 && load(slot.life) == process_life() ? 1 : 0;
  }
  return count;
}

}  // namespace datum
