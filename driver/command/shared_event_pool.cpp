// Events of several processes: slots in a file whose first slot says what follows.
#include <algorithm>
#include <cstring>
#include <new>
#include <optional>
#include <vector>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

#include "driver/command/event.hpp"
#include "driver/command/event_pool.hpp"
#include "driver/device/limits.hpp"
#include "driver/memory/dma_map.hpp"
#include "driver/memory/exported_memory.hpp"
#include "driver/memory/open_shared_file.hpp"
#include "driver/object/device.hpp"
#include "driver/object/driver.hpp"

namespace datum {
namespace {

/// In the place of one slot, before the first. Written once, before anybody can open the file.
struct alignas(sizeof(EventSlot)) SharedPoolHeader {
  std::uint64_t magic = right_magic;
  std::uint32_t layout = right_layout;
  std::uint32_t slot_bytes = sizeof(EventSlot);
  std::uint32_t count = 0;
  std::uint32_t flags = 0;

  static constexpr std::uint64_t right_magic = 0x4c4f'4f50'4d54'4144;  // "DATMPOOL"
  /// Of slots and event words: others are not understood.
  static constexpr std::uint32_t right_layout = 1;
};

static_assert(sizeof(SharedPoolHeader) == sizeof(EventSlot));

std::uint64_t bytes_of(std::uint32_t count) noexcept {
  return sizeof(SharedPoolHeader) + std::uint64_t{count} * sizeof(EventSlot);
}

/// Boards may map no less than their granule.
std::uint64_t whole_granules(Context& context, std::uint64_t bytes) {
  std::uint64_t granule = small_page_bytes;
  for (Device* device : context.devices()) {
    granule = std::max(granule, device->dma().granule_bytes());
  }
  return align_up(bytes, granule);
}

/// `header` is a copy: who shares the file may change it at any time.
Status check(const SharedPoolHeader& header, std::uint64_t file_bytes) {
  const bool understood = header.magic == SharedPoolHeader::right_magic &&
                          header.layout == SharedPoolHeader::right_layout &&
                          header.slot_bytes == sizeof(EventSlot);
  if (!understood) {
    return make_error(ErrorCode::invalid_argument, "the memory holds no events of this layout",
                      "both processes need the same version of the driver");
  }
  const bool flags_legal = header.flags <= 0xfU && (header.flags & shared_pool_flag) != 0 &&
                           (header.flags & timestamp_pool_flags) != timestamp_pool_flags;
  if (!flags_legal || header.count == 0 || header.count > limits::max_pool_events ||
      bytes_of(header.count) > file_bytes) {
    return make_error(ErrorCode::invalid_argument,
                      fmt::format("the pool claims {} events with flags {:#x} in {} bytes", header.count,
                                  header.flags, file_bytes));
  }
  return {};
}

}  // namespace

Status EventMemory::map_shared(int file, const SharedFileIdentity& identity) {
  Result<void*> mapped = context_.import_file(*devices_.front(), file, identity, identity.bytes);
  if (!mapped) {
    return std::move(mapped).error();
  }
  header_ = *mapped;
  slots_ = static_cast<EventSlot*>(header_) + 1;
  if (written_elsewhere()) {
    context_.driver().exports().add_foreign_words();
  }
  return {};
}

Result<std::shared_ptr<EventMemory>> EventMemory::create_shared(Context& context,
                                                                const std::vector<Device*>& devices,
                                                                std::uint32_t count, std::uint32_t flags,
                                                                SharedKind kind) {
  Result<IpcToken> token = make_ipc_token();
  if (!token) {
    return std::move(token).error();
  }
  Result<UniqueFd> file = make_shared_file(kind, *token, whole_granules(context, bytes_of(count)));
  if (!file) {
    return std::move(file).error();
  }
  Result<SharedFileIdentity> identity = identify_shared_file(file->get());
  if (!identity) {
    return std::move(identity).error();
  }
  std::shared_ptr<EventMemory> memory(new EventMemory(context, devices));
  memory->kind_ = kind;
  if (Status mapped = memory->map_shared(file->get(), *identity); !mapped) {
    return std::move(mapped).error();
  }
  auto* header = new (memory->header_) SharedPoolHeader;
  header->count = count;
  header->flags = flags;
  memory->flags_ = flags;
  {
    const ScopedLock lock(memory->file_mutex_);
    memory->file_ = std::move(*file);
  }
  memory->export_id_ = context.driver().next_allocation_id();
  memory->set_count(count);
  return memory;
}

Result<std::shared_ptr<EventMemory>> EventMemory::open(Context& context, const OpenedFile& file,
                                                       SharedKind kind) {
  if (file.identity.kind != kind) {
    return make_error(ErrorCode::invalid_argument, kind == SharedKind::events
                                                       ? "the handle is not of an event pool"
                                                       : "the handle is not of a counter-based event");
  }
  std::shared_ptr<EventMemory> memory(new EventMemory(context, context.devices()));
  memory->kind_ = kind;
  memory->opened_ = true;
  if (Status mapped = memory->map_shared(file.fd.get(), file.identity); !mapped) {
    return std::move(mapped).error();
  }
  SharedPoolHeader header;
  std::memcpy(&header, memory->header_, sizeof header);
  if (Status legal = check(header, file.identity.bytes); !legal) {
    return std::move(legal).error();
  }
  memory->flags_ = header.flags;
  memory->set_count(header.count);
  return memory;
}

Result<IpcHandleBytes> EventMemory::export_file() {
  const ScopedLock lock(file_mutex_);
  ExportTable& exports = context_.driver().exports();
  if (file_.valid()) {
    Result<SharedFileIdentity> identity = identify_shared_file(file_.get());
    if (!identity) {
      return std::move(identity).error();
    }
    const std::uint64_t bytes = identity->bytes;
    exports.add(export_id_, std::make_unique<ExportedFile>(std::move(file_), *identity, bytes));
  }
  const bool counted = kind_ == SharedKind::events;
  if (std::optional<IpcHandleBytes> handle = exports.get(export_id_, counted)) {
    return *handle;
  }
  return make_error(
      ErrorCode::invalid_synchronization_object,
      "what would be shared was not created in this process to be shared",
      "create the pool or the event with its flag for IPC; the handle of what was opened may be "
      "sent on");
}

void EventMemory::end_export() noexcept {
  if (export_id_ != 0) {
    context_.driver().exports().remove(export_id_);
  }
}

EventPool::~EventPool() { memory_->end_export(); }

Result<EventPool*> EventPool::open(Context& context, const OpenedFile& file) {
  Result<std::shared_ptr<EventMemory>> memory = EventMemory::open(context, file);
  if (!memory) {
    return std::move(memory).error();
  }
  const std::uint32_t count = (*memory)->count();
  const std::uint32_t flags = (*memory)->flags();
  const bool timestamps = (flags & timestamp_pool_flags) != 0;
  return publish(std::unique_ptr<EventPool>(new EventPool(std::move(*memory), count, flags, timestamps, 0)));
}

Result<IpcHandleBytes> EventPool::ipc_handle() { return memory_->export_file(); }

Status EventPool::close() {
  if (!memory_->opened()) {
    return make_error(ErrorCode::invalid_argument, "the pool was created here and not opened",
                      "destroy it with zeEventPoolDestroy");
  }
  std::vector<Event*> left;
  {
    const ScopedLock lock(opened_mutex_);
    left.assign(opened_events_.begin(), opened_events_.end());
  }
  for (Event* event : left) {
    event->destroy();
  }
  return destroy();
}

}  // namespace datum
