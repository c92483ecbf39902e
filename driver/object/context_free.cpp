// Allocations of a context: giving them back.
#include <new>
#include <utility>

#include <fmt/format.h>

#include "driver/command/memory_use.hpp"
#include "driver/command/ring_scheduler.hpp"
#include "driver/object/context.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum {
namespace {

Error no_allocation(const void* pointer) {
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("{} is not the first byte of a live allocation of this context", pointer));
}

}  // namespace

/// An allocation that is none any longer and whose memory commands in flight still use: the last of them
/// gives it back, in whichever thread notices its end.
struct Context::FreedInUse {
  explicit FreedInUse(Context& of) : context(of) { context.add_child(); }

  FreedInUse(const FreedInUse&) = delete;
  FreedInUse& operator=(const FreedInUse&) = delete;

  ~FreedInUse() {
    try {
      if (allocation) {
        context.give_back(*allocation);
      }
    } catch (...) {
      // No memory for the books: the allocation goes with its context.
    }
    context.remove_child();
  }

  Context& context;
  std::optional<Allocation> allocation;
};

std::optional<Allocation> Context::erase(const void* pointer) {
  return driver_.registry().erase(reinterpret_cast<std::uintptr_t>(pointer), this);
}

void Context::give_back(const Allocation& allocation) {
  if (allocation.kind == AllocationKind::shared && !atomic_attributes_.empty()) {
    atomic_attributes_.forget(allocation.id);
  }
  MemoryBacking& backing = *allocation.backing;
  end_sharing(backing, allocation);
  if (books_.keep_mapped(backing)) {
    return;
  }
  const bool kept = forget(backing, allocation, true);
  const bool much_of_the_host = !backing.on_device() && backing.pages().whole_piece;
  if (kept && (much_of_the_host || backing.is_shared() || allocation.external)) {
    // Memory of others, much memory of the host's, or mappings in several places: it is worth asking the
    // boards now, instead of before the next command.
    ask_boards();
  }
  if (!kept && books_.keep_unmapped(backing)) {
    return;
  }
  unlist(backing);
}

/// Now instead of before the next command. A board that does not answer cannot use the memory either, and
/// where there is no heap to ask with it is asked then.
void Context::ask_boards() noexcept {
  for (const std::unique_ptr<AddressSpace>& space : spaces_) {
    try {
      static_cast<void>(space->commit());
    } catch (const std::bad_alloc&) {
      continue;
    }
  }
}

Status Context::free(void* pointer) {
  const std::optional<Allocation> allocation = erase(pointer);
  if (!allocation) {
    return no_allocation(pointer);
  }
  give_back(*allocation);
  return {};
}

Status Context::free_when_unused(void* pointer) {
  const std::optional<Allocation> live = find(pointer);
  if (!live || live->application_mapped || live->base != reinterpret_cast<std::uintptr_t>(pointer)) {
    return no_allocation(pointer);
  }
  for (std::size_t index = 0; index < devices_.size(); ++index) {
    Status waited = devices_[index]->rings().wait_unused(
        {spaces_[index]->number(), DeviceVa{live->base}, live->span_bytes()});
    if (!waited.ok() && waited.error().code != ErrorCode::device_lost) {
      return waited;
    }
  }
  if (Status freed = free(pointer); !freed.ok()) {
    return freed;
  }
  ask_boards();
  return {};
}

Status Context::free_after_use(void* pointer) {
  const auto freed = std::make_shared<FreedInUse>(*this);
  freed->allocation = erase(pointer);
  if (!freed->allocation) {
    return no_allocation(pointer);
  }
  const Allocation& allocation = *freed->allocation;
  for (std::size_t index = 0; index < devices_.size(); ++index) {
    devices_[index]->rings().keep_until_unused(
        {spaces_[index]->number(), DeviceVa{allocation.base}, allocation.span_bytes()}, freed);
  }
  return {};
}

}  // namespace datum
