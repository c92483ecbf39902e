#include "tests/soak/objects.hpp"

#include <utility>

#include "tests/support/result_text.hpp"

namespace datum::soak {
namespace {

template <class Owner, class Create, class... Arguments>
Owner made(const char* call, Create create, Arguments... arguments) {
  Owner owner;
  check(create(arguments..., owner.address()), call);
  ++live_objects();
  return owner;
}

}  // namespace

void note_end(ze_result_t code, const char* what) {
  if (code == ZE_RESULT_SUCCESS) {
    --live_objects();
  } else {
    note_failed_end(std::string(what) + " answered " + test::result_text(code) + ": " +
                    test::last_error_text());
  }
}

Context make_context(ze_driver_handle_t driver) {
  const ze_context_desc_t desc{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
  return made<Context>("zeContextCreate", zeContextCreate, driver, &desc);
}

Queue make_queue(const Site& site) {
  ze_command_queue_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  desc.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
  return made<Queue>("zeCommandQueueCreate", zeCommandQueueCreate, site.context, site.device, &desc);
}

List make_list(const Site& site) {
  const ze_command_list_desc_t desc{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, 0};
  return made<List>("zeCommandListCreate", zeCommandListCreate, site.context, site.device, &desc);
}

List make_immediate_list(const Site& site, ze_command_queue_mode_t mode) {
  ze_command_queue_desc_t desc{};
  desc.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
  desc.mode = mode;
  return made<List>("zeCommandListCreateImmediate", zeCommandListCreateImmediate, site.context, site.device,
                    &desc);
}

Pool make_pool(const Site& site, std::uint32_t events, ze_event_pool_flags_t flags) {
  const ze_event_pool_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                  flags | ZE_EVENT_POOL_FLAG_HOST_VISIBLE, events};
  return made<Pool>("zeEventPoolCreate", zeEventPoolCreate, site.context, &desc, 0U, nullptr);
}

OpenedPool open_pool(const Site& site, const ze_ipc_event_pool_handle_t& handle) {
  return made<OpenedPool>("zeEventPoolOpenIpcHandle", zeEventPoolOpenIpcHandle, site.context, handle);
}

Event make_event(ze_event_pool_handle_t pool, std::uint32_t index) {
  const ze_event_desc_t desc{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, index, ZE_EVENT_SCOPE_FLAG_HOST,
                             ZE_EVENT_SCOPE_FLAG_HOST};
  return made<Event>("zeEventCreate", zeEventCreate, pool, &desc);
}

Fence make_fence(ze_command_queue_handle_t queue) {
  const ze_fence_desc_t desc{ZE_STRUCTURE_TYPE_FENCE_DESC, nullptr, 0};
  return made<Fence>("zeFenceCreate", zeFenceCreate, queue, &desc);
}

Block::Block(const Site& site, test::MemoryKind kind, std::size_t bytes)
    : context_(site.context), bytes_(bytes), host_sees_(test::host_accessible(kind)) {
  check(test::allocate_raw(kind, site.context, site.device, bytes, 0, &pointer_), test::name_of(kind));
  ++live_objects();
}

Block Block::open(const Site& site, const ze_ipc_mem_handle_t& handle, std::size_t bytes) {
  Block block;
  void* pointer = nullptr;
  check(zeMemOpenIpcHandle(site.context, site.device, handle, 0, &pointer), "zeMemOpenIpcHandle");
  ++live_objects();
  block.context_ = site.context;
  block.pointer_ = pointer;
  block.bytes_ = bytes;
  block.opened_ = true;
  return block;
}

Block::Block(Block&& other) noexcept { *this = std::move(other); }

Block& Block::operator=(Block&& other) noexcept {
  if (this != &other) {
    end();
    context_ = std::exchange(other.context_, nullptr);
    pointer_ = std::exchange(other.pointer_, nullptr);
    ordinary_ = std::move(other.ordinary_);
    bytes_ = std::exchange(other.bytes_, 0);
    host_sees_ = other.host_sees_;
    opened_ = other.opened_;
  }
  return *this;
}

void Block::end() {
  void* const pointer = std::exchange(pointer_, nullptr);
  if (pointer != nullptr) {
    note_end(opened_ ? zeMemCloseIpcHandle(context_, pointer) : zeMemFree(context_, pointer),
             "giving memory back");
  }
}

}  // namespace datum::soak
