#include "driver/command/command_queue.hpp"

#include <array>
#include <memory>

#include "driver/command/command_list.hpp"
#include "driver/command/fence.hpp"

namespace datum {

Result<CommandQueue*> CommandQueue::create(Context& context, Device& device, const QueueSettings& settings) {
  std::unique_ptr<CommandQueue> queue(new CommandQueue(context, device, settings));
  Result<HandleSlot*> handle = register_handle(ObjectType::command_queue, queue.get());
  if (!handle) {
    return std::move(handle).error();
  }
  queue->handle_ = *handle;
  return queue.release();
}

Status CommandQueue::destroy() {
  if (Status closed = submitter_.close(); !closed) {
    return closed;
  }
  unregister_handle(handle_);
  delete this;
  return {};
}

Status CommandQueue::execute(std::span<CommandList* const> lists, Fence* fence) {
  if (fence != nullptr && fence->stream() != submitter_.stream()) {
    return make_error(ErrorCode::invalid_synchronization_object, "the fence was created for another queue");
  }
  std::array<Batch, 8> few;
  std::vector<Batch> many;
  if (lists.size() > few.size()) {
    many.resize(lists.size());
  }
  const std::span<Batch> batches =
      (many.empty() ? std::span<Batch>(few) : std::span<Batch>(many)).first(lists.size());
  for (std::size_t index = 0; index < lists.size(); ++index) {
    if (Status fits =
            lists[index]->executable_on(submitter_.context(), submitter_.device(), settings_.ordinal);
        !fits) {
      return fits;
    }
    batches[index] = {&lists[index]->recorded(), lists[index]->in_order()};
  }
  Result<std::uint64_t> end = submitter_.submit(batches);
  if (!end) {
    return std::move(end).error();
  }
  if (fence != nullptr) {
    fence->arm(*end);
  }
  return settings_.synchronous ? submitter_.synchronize(~0ULL) : Status{};
}

}  // namespace datum
