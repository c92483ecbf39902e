// Handles of several exported allocations at once.
#include <utility>

#include <datum/base/mutex.hpp>

#include "driver/memory/exported_memory.hpp"
#include "driver/memory/shared_range.hpp"

namespace datum {

std::shared_ptr<ExportedFile> ExportTable::hold(std::uint64_t allocation_id) const {
  const ScopedLock lock(mutex_);
  const auto found = files_.find(allocation_id);
  return found != files_.end() ? found->second.file : nullptr;
}

Result<IpcHandleBytes> ExportTable::add_range(const void* owner, std::uint64_t size_bytes,
                                              std::vector<RangePart> parts, std::uint64_t first_byte) {
  const BrokerAddress broker = broker_address();
  if (broker.number == 0) {
    return make_error(ErrorCode::out_of_host_memory,
                      "nobody can hand out the parts of a range: no socket or thread was to be had for it");
  }
  Result<IpcToken> token = make_ipc_token();
  if (!token.ok()) {
    return std::move(token).error();
  }
  Range range;
  range.owner = owner;
  std::vector<SharedPart> listed;
  listed.reserve(parts.size());
  for (RangePart& part : parts) {
    listed.push_back({part.file->identity(), part.offset, part.bytes});
    range.parts.push_back(std::move(part.file));
  }
  Result<UniqueFd> file = SharedRange::write(*token, size_bytes, broker, listed, first_byte);
  if (!file.ok()) {
    return std::move(file).error();
  }
  Result<SharedFileIdentity> identity = identify_shared_file(file->get());
  if (!identity.ok()) {
    return std::move(identity).error();
  }
  range.list = std::make_unique<ExportedFile>(std::move(*file), *identity, identity->bytes);
  range.handle = encode({range.list->fd(), IpcHints{*identity, identity->bytes, broker}});
  const IpcHandleBytes handle = range.handle;
  const ScopedLock lock(mutex_);
  for (const std::shared_ptr<ExportedFile>& part : range.parts) {
    Held& held = held_[part->identity().token];
    held.file = part.get();
    ++held.parts;
  }
  ranges_.emplace(*token, std::move(range));
  handles_[*token] = 1;
  return handle;
}

/// Of a range that ends.
void ExportTable::let_go_of_parts(const Range& range) noexcept {
  for (const std::shared_ptr<ExportedFile>& part : range.parts) {
    const auto held = held_.find(part->identity().token);
    if (--held->second.parts == 0) {
      held_.erase(held);
    }
  }
}

void ExportTable::remove_ranges(const void* owner) noexcept {
  const ScopedLock lock(mutex_);
  for (auto range = ranges_.begin(); range != ranges_.end();) {
    if (range->second.owner != owner) {
      ++range;
      continue;
    }
    const auto out = handles_.extract(range->first);
    remember_freed(range->first, out.empty() ? 0 : out.mapped());
    let_go_of_parts(range->second);
    range = ranges_.erase(range);
  }
}

}  // namespace datum
