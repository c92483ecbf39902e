#include "tests/parity/board_run.hpp"

#include <algorithm>
#include <cstring>

#include <fmt/format.h>

#include "tests/support/owned_handle.hpp"
#include "tests/support/pattern.hpp"
#include "tests/support/result_text.hpp"

namespace datum::parity {
namespace {

using namespace cosim;
using namespace test;

constexpr std::uint64_t patience_ns = 60'000'000'000;
constexpr std::uint32_t no_event = UINT32_MAX;

/// A call that failed ends the run; the text goes to the person who reads the failure.
struct CallFailed {
  std::string text;
};

void check(ze_result_t result, const char* call) {
  if (result != ZE_RESULT_SUCCESS) {
    throw CallFailed{fmt::format("{} answered {}", call, result_text(result))};
  }
}

#define PARITY_CALL(function, ...) check(function(__VA_ARGS__), #function)

/// One buffer on the board, or beside it.
struct PlacedBuffer {
  OwnedMemory owned;
  std::vector<std::uint8_t> system;
  std::uint8_t* bytes = nullptr;
};

/// A queue with its lists in the order of their submission; an immediate queue is one list.
struct PlacedQueue {
  QueueKind kind = QueueKind::lists;
  OwnedQueue queue;
  std::vector<OwnedList> lists;
  std::vector<unsigned> operations;
};

class BoardRun {
 public:
  BoardRun(const Program& program, ze_driver_handle_t driver, ze_device_handle_t device)
      : program_(program), device_(device) {
    const ze_context_desc_t description{ZE_STRUCTURE_TYPE_CONTEXT_DESC, nullptr, 0};
    PARITY_CALL(zeContextCreate, driver, &description, context_.address());
  }

  Memory run() {
    make_events();
    make_queues();
    place_buffers();
    record_lists();
    submit();
    open_gates();
    wait();
    return read_back();
  }

 private:
  void make_events() {
    std::uint32_t count = 0;
    for (const Operation& operation : program_.operations) {
      event_of_.push_back(operation.signals ? count++ : no_event);
      gate_of_.push_back(operation.gated ? count++ : no_event);
    }
    if (count == 0) {
      return;
    }
    const ze_event_pool_desc_t description{ZE_STRUCTURE_TYPE_EVENT_POOL_DESC, nullptr,
                                           ZE_EVENT_POOL_FLAG_HOST_VISIBLE, count};
    PARITY_CALL(zeEventPoolCreate, context_, &description, 0, nullptr, pool_.address());
    for (std::uint32_t index = 0; index < count; ++index) {
      const ze_event_desc_t event{ZE_STRUCTURE_TYPE_EVENT_DESC, nullptr, index, ZE_EVENT_SCOPE_FLAG_HOST,
                                  ZE_EVENT_SCOPE_FLAG_HOST};
      OwnedEvent made;
      PARITY_CALL(zeEventCreate, pool_, &event, made.address());
      events_.push_back(std::move(made));
    }
  }

  void make_queues() {
    ze_command_queue_desc_t description{};
    description.stype = ZE_STRUCTURE_TYPE_COMMAND_QUEUE_DESC;
    description.mode = ZE_COMMAND_QUEUE_MODE_ASYNCHRONOUS;
    for (const QueueKind kind : program_.queues) {
      PlacedQueue queue;
      queue.kind = kind;
      if (kind == QueueKind::immediate) {
        OwnedList list;
        PARITY_CALL(zeCommandListCreateImmediate, context_, device_, &description, list.address());
        queue.lists.push_back(std::move(list));
      } else {
        PARITY_CALL(zeCommandQueueCreate, context_, device_, &description, queue.queue.address());
      }
      queues_.push_back(std::move(queue));
    }
    for (unsigned index = 0; index < program_.operations.size(); ++index) {
      queues_[program_.operations[index].queue].operations.push_back(index);
    }
    ze_command_queue_desc_t mover = description;
    mover.mode = ZE_COMMAND_QUEUE_MODE_SYNCHRONOUS;
    PARITY_CALL(zeCommandListCreateImmediate, context_, device_, &mover, mover_.address());
  }

  [[nodiscard]] OwnedMemory host_memory(std::uint64_t bytes) {
    const ze_host_mem_alloc_desc_t description{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    void* pointer = nullptr;
    PARITY_CALL(zeMemAllocHost, context_, &description, bytes, 0, &pointer);
    return {context_, pointer};
  }

  [[nodiscard]] OwnedMemory allocate(const Buffer& buffer) {
    const ze_device_mem_alloc_desc_t on_device{ZE_STRUCTURE_TYPE_DEVICE_MEM_ALLOC_DESC, nullptr, 0,
                                               buffer.place == Place::onchip ? 1U : 0U};
    const ze_host_mem_alloc_desc_t on_host{ZE_STRUCTURE_TYPE_HOST_MEM_ALLOC_DESC, nullptr, 0};
    void* pointer = nullptr;
    switch (buffer.place) {
    case Place::device:
    case Place::onchip:
      PARITY_CALL(zeMemAllocDevice, context_, &on_device, buffer.size_bytes, 0, device_, &pointer);
      break;
    case Place::shared:
      PARITY_CALL(zeMemAllocShared, context_, &on_device, &on_host, buffer.size_bytes, 0, device_, &pointer);
      break;
    case Place::host:
      return host_memory(buffer.size_bytes);
    case Place::system:
      break;
    }
    return {context_, pointer};
  }

  void place_buffers() {
    for (unsigned index = 0; index < program_.buffers.size(); ++index) {
      PlacedBuffer placed;
      const std::vector<std::uint8_t> contents = initial_bytes(program_, index);
      if (program_.buffers[index].place == Place::system) {
        placed.system = contents;
        placed.bytes = placed.system.data();
      } else {
        placed.owned = allocate(program_.buffers[index]);
        placed.bytes = placed.owned.bytes();
        const OwnedMemory staging = host_memory(contents.size());
        std::memcpy(staging.get(), contents.data(), contents.size());
        PARITY_CALL(zeCommandListAppendMemoryCopy, mover_, placed.bytes, staging.get(), contents.size(),
                    nullptr, 0, nullptr);
      }
      buffers_.push_back(std::move(placed));
    }
  }

  void append(ze_command_list_handle_t list, unsigned index) {
    const Operation& operation = program_.operations[index];
    if (operation.barrier_before) {
      PARITY_CALL(zeCommandListAppendBarrier, list, nullptr, 0, nullptr);
    }
    std::vector<ze_event_handle_t> waits;
    for (const unsigned earlier : operation.waits) {
      waits.push_back(events_[event_of_[earlier]]);
    }
    if (operation.gated) {
      waits.push_back(events_[gate_of_[index]]);
    }
    ze_event_handle_t done = event_of_[index] == no_event ? nullptr : events_[event_of_[index]].get();
    const auto wait_count = static_cast<std::uint32_t>(waits.size());
    ze_event_handle_t* wait_for = waits.empty() ? nullptr : waits.data();
    std::uint8_t* to = buffers_[operation.to.buffer].bytes + operation.to.offset;
    const std::uint8_t* from = buffers_[operation.from.buffer].bytes + operation.from.offset;
    const Extent& extent = operation.extent;
    const ze_copy_region_t to_region{operation.to_box.x, operation.to_box.y, operation.to_box.z,
                                     extent.width,       extent.height,      extent.depth};
    const ze_copy_region_t from_region{operation.from_box.x, operation.from_box.y, operation.from_box.z,
                                       extent.width,         extent.height,        extent.depth};
    switch (operation.kind) {
    case Kind::copy:
      PARITY_CALL(zeCommandListAppendMemoryCopy, list, to, from, operation.bytes, done, wait_count, wait_for);
      break;
    case Kind::fill:
      PARITY_CALL(zeCommandListAppendMemoryFill, list, to, operation.value.data(), operation.value.size(),
                  operation.bytes, done, wait_count, wait_for);
      break;
    case Kind::copy_region:
      PARITY_CALL(zeCommandListAppendMemoryCopyRegion, list, to, &to_region, operation.to_box.pitch,
                  operation.to_box.slice_pitch, from, &from_region, operation.from_box.pitch,
                  operation.from_box.slice_pitch, done, wait_count, wait_for);
      break;
    case Kind::barrier:
      PARITY_CALL(zeCommandListAppendBarrier, list, done, wait_count, wait_for);
      break;
    }
  }

  void record_lists() {
    for (PlacedQueue& queue : queues_) {
      if (queue.kind == QueueKind::immediate) {
        continue;
      }
      const ze_command_list_flags_t flags =
          queue.kind == QueueKind::in_order_lists ? ZE_COMMAND_LIST_FLAG_IN_ORDER : 0;
      const ze_command_list_desc_t description{ZE_STRUCTURE_TYPE_COMMAND_LIST_DESC, nullptr, 0, flags};
      for (const unsigned index : queue.operations) {
        if (program_.operations[index].starts_list) {
          OwnedList list;
          PARITY_CALL(zeCommandListCreate, context_, device_, &description, list.address());
          queue.lists.push_back(std::move(list));
        }
        append(queue.lists.back(), index);
      }
      for (const OwnedList& list : queue.lists) {
        PARITY_CALL(zeCommandListClose, list);
      }
    }
  }

  /// Takes the queues in a random order, each as a whole or a list at a time: none may rely on what another
  /// has submitted.
  void submit() {
    Random random(program_.seed ^ 0x5ca1ab1eULL);
    std::vector<unsigned> left(queues_.size(), 0);
    std::vector<unsigned> busy;
    for (unsigned queue = 0; queue < queues_.size(); ++queue) {
      busy.push_back(queue);
    }
    while (!busy.empty()) {
      const std::size_t pick = random.below(busy.size());
      PlacedQueue& queue = queues_[busy[pick]];
      unsigned& next = left[busy[pick]];
      const bool immediate = queue.kind == QueueKind::immediate;
      const std::size_t parts = immediate ? queue.operations.size() : queue.lists.size();
      if (next < parts) {
        if (immediate) {
          append(queue.lists.front(), queue.operations[next]);
        } else {
          ze_command_list_handle_t list = queue.lists[next];
          PARITY_CALL(zeCommandQueueExecuteCommandLists, queue.queue, 1, &list, nullptr);
        }
        ++next;
      }
      if (next >= parts) {
        busy.erase(busy.begin() + static_cast<std::ptrdiff_t>(pick));
      }
    }
  }

  void open_gates() {
    Random random(program_.seed ^ 0x9a7e5ULL);
    std::vector<std::uint32_t> gates;
    std::copy_if(gate_of_.begin(), gate_of_.end(), std::back_inserter(gates),
                 [](std::uint32_t gate) { return gate != no_event; });
    for (std::size_t left = gates.size(); left > 0; --left) {
      std::swap(gates[left - 1], gates[random.below(left)]);
      PARITY_CALL(zeEventHostSignal, events_[gates[left - 1]]);
    }
  }

  void wait() {
    for (const PlacedQueue& queue : queues_) {
      if (queue.kind == QueueKind::immediate) {
        PARITY_CALL(zeCommandListHostSynchronize, queue.lists.front(), patience_ns);
      } else {
        PARITY_CALL(zeCommandQueueSynchronize, queue.queue, patience_ns);
      }
    }
    for (const OwnedEvent& event : events_) {
      PARITY_CALL(zeEventQueryStatus, event);
    }
  }

  Memory read_back() {
    Memory memory;
    for (unsigned index = 0; index < program_.buffers.size(); ++index) {
      const std::uint64_t bytes = program_.buffers[index].size_bytes;
      if (program_.buffers[index].place == Place::system) {
        memory.push_back(buffers_[index].system);
        continue;
      }
      const OwnedMemory staging = host_memory(bytes);
      PARITY_CALL(zeCommandListAppendMemoryCopy, mover_, staging.get(), buffers_[index].bytes, bytes, nullptr,
                  0, nullptr);
      memory.emplace_back(staging.bytes(), staging.bytes() + bytes);
    }
    return memory;
  }

  // In the order in which they may go: queues before what their work uses.
  const Program& program_;
  ze_device_handle_t device_;
  OwnedContext context_;
  OwnedEventPool pool_;
  std::vector<OwnedEvent> events_;
  std::vector<std::uint32_t> event_of_;
  std::vector<std::uint32_t> gate_of_;
  std::vector<PlacedBuffer> buffers_;
  OwnedList mover_;
  std::vector<PlacedQueue> queues_;
};

}  // namespace

BoardOutcome run_on_board(const Program& program, ze_driver_handle_t driver, ze_device_handle_t device) {
  BoardOutcome outcome;
  try {
    outcome.memory = BoardRun(program, driver, device).run();
  } catch (const CallFailed& failed) {
    outcome.failure = failed.text;
  }
  return outcome;
}

}  // namespace datum::parity
