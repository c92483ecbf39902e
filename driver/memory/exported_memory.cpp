#include "driver/memory/exported_memory.hpp"

#include <algorithm>
#include <cstring>
#include <exception>
#include <unistd.h>
#include <utility>

#include <datum/base/mutex.hpp>

#include "driver/device/limits.hpp"
#include "driver/memory/dma_map.hpp"

namespace datum {
namespace {

Error not_out() {
  return make_error(ErrorCode::invalid_argument,
                    "the handle is not out: it was put already, or is not of this process");
}

}  // namespace

ExportTable::ExportTable() {
  // Without random numbers the number of the process has to do, which is unique for those that live.
  const Result<IpcToken> random = make_ipc_token();
  std::uint32_t tag = static_cast<std::uint32_t>(::getpid());
  if (random.ok()) {
    std::memcpy(&tag, random->bytes.data(), sizeof tag);
  }
  process_tag_ = (tag & 0xf'ffffU) | 1U;
}

ExportTable::~ExportTable() { broker_.reset(); }

std::optional<IpcHandleBytes> ExportTable::get(std::uint64_t allocation_id, bool counted) {
  const ScopedLock lock(mutex_);
  const auto found = files_.find(allocation_id);
  if (found == files_.end()) {
    return std::nullopt;
  }
  found->second.handles += counted ? 1U : 0U;
  return found->second.handle;
}

BrokerAddress ExportTable::broker_address() {
  const ScopedLock lock(broker_mutex_);
  if (!std::exchange(broker_tried_, true)) {
    Result<std::unique_ptr<IpcBroker>> broker =
        IpcBroker::start([this](const IpcToken& token) { return find(token); });
    if (broker.ok()) {
      broker_ = std::move(*broker);
    }
  }
  return broker_ != nullptr ? broker_->address() : BrokerAddress{};
}

void ExportTable::add(std::uint64_t allocation_id, std::unique_ptr<ExportedFile> file) {
  const IpcToken token = file->identity().token;
  const IpcHandle handle{file->fd(),
                         IpcHints{file->identity(), file->size_bytes(), broker_address(), file->rights()}};
  std::shared_ptr<ExportedFile> shared = std::move(file);
  const ScopedLock lock(mutex_);
  const auto place = files_.try_emplace(allocation_id).first;
  try {
    by_token_.insert_or_assign(token, &place->second);
  } catch (...) {
    files_.erase(place);  // an entry without a file is none
    throw;
  }
  place->second.handle = encode(handle);
  place->second.file = std::move(shared);
}

bool ExportTable::has(std::uint64_t allocation_id) const {
  const ScopedLock lock(mutex_);
  return files_.contains(allocation_id);
}

Status ExportTable::offer(std::uint64_t allocation_id, ExternalTypes types, DmaBufs& dma_bufs) {
  const ScopedLock lock(mutex_);
  const auto found = files_.find(allocation_id);
  if (found == files_.end()) {
    return make_error(ErrorCode::invalid_argument, "the allocation is not exported");
  }
  return found->second.file->offer(types, dma_bufs);
}

Result<int> ExportTable::descriptor(std::uint64_t allocation_id, ExternalType type) {
  const ScopedLock lock(mutex_);
  const auto found = files_.find(allocation_id);
  if (found == files_.end()) {
    return make_error(ErrorCode::invalid_argument,
                      "a descriptor is asked for, and the memory was not made for export");
  }
  Entry& entry = found->second;
  Result<int> descriptor = entry.file->descriptor(type);
  if (descriptor.ok() && type == ExternalType::opaque) {
    // It may be another number, because the application closed the one in the handle.
    if (Result<IpcHandle> handle = decode_ipc_handle(entry.handle); handle.ok()) {
      handle->fd = *descriptor;
      entry.handle = encode(*handle);
    }
  }
  return descriptor;
}

Result<UniqueFd> ExportTable::duplicate(std::uint64_t allocation_id) const {
  const ScopedLock lock(mutex_);
  const auto found = files_.find(allocation_id);
  if (found == files_.end()) {
    return make_error(ErrorCode::invalid_argument, "the allocation is not exported");
  }
  return found->second.file->duplicate();
}

IpcHandleBytes ExportTable::adopt(int fd, const SharedFileIdentity& file) {
  const ScopedLock lock(mutex_);
  if (const auto own = by_token_.find(file.token); own != by_token_.end()) {
    ++own->second->handles;
    return own->second->handle;
  }
  ++handles_[file.token];
  if (const auto range = ranges_.find(file.token); range != ranges_.end()) {
    return range->second.handle;
  }
  return encode({fd, IpcHints{file, file.bytes, {}}});
}

bool ExportTable::is_offered_dma_buf(int fd) const {
  const ScopedLock lock(mutex_);
  return std::ranges::any_of(files_, [&](const auto& entry) { return entry.second.file->has_dma_buf(fd); });
}

Status ExportTable::put(const IpcHandle& handle) {
  IpcToken token;
  if (handle.hints) {
    token = handle.hints->file.token;
  } else {
    Result<SharedFileIdentity> file = identify_shared_file(handle.fd);
    if (!file.ok()) {
      return is_offered_dma_buf(handle.fd) ? Status{} : Status(std::move(file).error());
    }
    token = file->token;
  }
  Ranges::node_type ended;  // closed without the lock
  const ScopedLock lock(mutex_);
  if (const auto own = by_token_.find(token); own != by_token_.end()) {
    Entry& entry = *own->second;
    if (entry.handles != 0) {
      --entry.handles;
      return {};
    }
    return entry.file->is_offered() ? Status{} : Status(not_out());
  }
  auto& handles = handles_.contains(token) ? handles_ : freed_handles_;
  const auto found = handles.find(token);
  if (found == handles.end()) {
    return not_out();
  }
  if (--found->second == 0) {
    handles.erase(found);
    if (ended = ranges_.extract(token); !ended.empty()) {
      let_go_of_parts(ended.mapped());
    }
  }
  return {};
}

bool ExportTable::put_as_given(const IpcHandleBytes& handle) {
  const std::optional<IpcToken> token = memory_token_in(handle);
  if (!token) {
    return false;
  }
  const ScopedLock lock(mutex_);
  const auto own = by_token_.find(*token);
  if (own == by_token_.end() || own->second->handles == 0 || own->second->handle != handle) {
    return false;
  }
  --own->second->handles;
  return true;
}

void ExportTable::remove(std::uint64_t allocation_id) noexcept {
  std::shared_ptr<ExportedFile> ended;  // closed without the lock
  const ScopedLock lock(mutex_);
  const auto found = files_.find(allocation_id);
  if (found == files_.end()) {
    return;
  }
  ended = std::move(found->second.file);
  const std::uint64_t handles = found->second.handles;
  by_token_.erase(ended->identity().token);
  files_.erase(found);
  remember_freed(ended->identity().token, handles);
}

/// The handles that are out of what has ended may still be put.
void ExportTable::remember_freed(const IpcToken& token, std::uint64_t handles) noexcept {
  if (handles == 0) {
    return;
  }
  try {
    freed_order_.push_back(token);
    freed_handles_.insert_or_assign(token, handles);
  } catch (const std::exception&) {
    return;  // a later put is then refused, which harms nobody
  }
  if (freed_order_.size() > limits::kept_freed_handles) {
    freed_handles_.erase(freed_order_.front());
    freed_order_.pop_front();
  }
}

ExportTable::Counts ExportTable::counts() const {
  const ScopedLock lock(mutex_);
  Counts counts;
  counts.files = files_.size() + ranges_.size();
  for (const auto& [id, entry] : files_) {
    counts.handles += entry.handles;
  }
  for (const auto& [token, out] : handles_) {
    counts.handles += out;
  }
  return counts;
}

Result<UniqueFd> ExportTable::find(const IpcToken& token) const {
  const ScopedLock lock(mutex_);
  if (const auto found = by_token_.find(token); found != by_token_.end()) {
    return found->second->file->duplicate();
  }
  if (const auto range = ranges_.find(token); range != ranges_.end()) {
    return range->second.list->duplicate();
  }
  if (const auto held = held_.find(token); held != held_.end()) {
    return held->second.file->duplicate();
  }
  return make_error(ErrorCode::invalid_argument, "no such memory is exported");
}

DeviceExport::DeviceExport(board::PcieFunction& function, std::vector<PageRun> runs) noexcept
    : function_(function), runs_(std::move(runs)) {
  for (const PageRun& run : runs_) {
    bytes_ += run.bytes;
  }
}

Result<Iova> DeviceExport::add_peer(DmaMap& dma, int file) {
  peers_.reserve(peers_.size() + 1);
  Result<Iova> iova = dma.map_descriptor(file, bytes_, board::DmaAccess::read_write);
  if (iova.ok()) {
    peers_.emplace_back(&dma, *iova);
  }
  return iova;
}

void DeviceExport::remove_peer(const DmaMap& dma) noexcept {
  std::erase_if(peers_, [&](const auto& peer) {
    if (peer.first != &dma) {
      return false;
    }
    peer.first->unmap(peer.second, bytes_);
    return true;
  });
}

bool DeviceExport::has_peer(const DmaMap& dma) const noexcept {
  return std::ranges::any_of(peers_, [&](const auto& peer) { return peer.first == &dma; });
}

bool DeviceExport::end() noexcept {
  for (const auto& [dma, iova] : peers_) {
    dma->unmap(iova, bytes_);
  }
  peers_.clear();
  return function_.end_export(runs_).ok();
}

}  // namespace datum
