#include "sim/server/remote_dma.hpp"

#include <algorithm>

#include <fmt/format.h>

#include <datum/base/mutex.hpp>

namespace datum::sim {

namespace {

/// Ids that may be out at once: far more than all rings' accesses, so this is only met when a client stops
/// answering.
constexpr std::size_t most_asked = 4096;

}  // namespace

RemoteMemory::Answer RemoteDma::read(unsigned requester, std::uint64_t iova, std::span<std::byte> to) {
  return access({requester, false}, iova, to.size(), {}, to);
}

RemoteMemory::Answer RemoteDma::write(unsigned requester, std::uint64_t iova,
                                      std::span<const std::byte> from) {
  return access({requester, true}, iova, from.size(), from, {});
}

RemoteMemory::Answer RemoteDma::access(Key key, std::uint64_t iova, std::uint64_t bytes,
                                       std::span<const std::byte> data, std::span<std::byte> to) {
  const ScopedLock lock(mutex_);
  if (closed_) {
    return Answer::refused;
  }
  auto& slot = slots_[key];
  const bool late =
      slot.state == State::pending && std::chrono::steady_clock::now() - slot.asked_at > most_answer_time;
  if (slot.unwanted && !late) {
    return Answer::pending;
  }
  if (slot.unwanted || slot.state == State::idle || slot.iova != iova || slot.bytes != bytes) {
    if (asked_.size() >= most_asked) {
      return Answer::refused;
    }
    ask(key, slot, iova, bytes, data);
    return Answer::pending;
  }
  if (slot.state == State::pending) {
    if (!late) {
      return Answer::pending;
    }
    slot.state = State::refused;
  }
  const bool done = std::exchange(slot.state, State::idle) == State::done;
  if (done) {
    std::ranges::copy(slot.data, to.begin());  // nothing, for a write
  }
  slot.data.clear();
  return done ? Answer::done : Answer::refused;
}

void RemoteDma::ask(Key key, Slot& slot, std::uint64_t iova, std::uint64_t bytes,
                    std::span<const std::byte> data) {
  while (asked_.contains(next_id_)) {
    ++next_id_;
  }
  slot = {next_id_, iova, bytes, State::pending, false, std::chrono::steady_clock::now(), {}};
  asked_.emplace(next_id_++, key);
  ++messages_;
  vfio_user::Header header;
  header.id = slot.id;
  header.command =
      static_cast<std::uint16_t>(key.second ? vfio_user::Command::dma_write : vfio_user::Command::dma_read);
  auto body = vfio_user::as_message_body(vfio_user::DmaAccess{iova, bytes});
  body.insert(body.end(), data.begin(), data.end());
  outbox_.send(header, body);
}

void RemoteDma::forget(unsigned requester) {
  const ScopedLock lock(mutex_);
  for (const bool write : {false, true}) {
    const auto found = slots_.find({requester, write});
    if (found == slots_.end()) {
      continue;
    }
    auto& slot = found->second;
    slot.unwanted = slot.state == State::pending;
    if (!slot.unwanted) {
      slot.state = State::idle;
      slot.data.clear();
    }
  }
}

bool RemoteDma::busy(unsigned requester) const {
  const ScopedLock lock(mutex_);
  for (const bool write : {false, true}) {
    const auto found = slots_.find({requester, write});
    if (found != slots_.end() && found->second.state == State::pending) {
      return true;
    }
  }
  return false;
}

bool RemoteDma::fits(const vfio_user::Message& reply, const Slot& slot, bool write) {
  const auto expected = sizeof(vfio_user::DmaAccess) + (write ? 0 : slot.bytes);
  if (reply.body.size() != expected) {
    return false;
  }
  const auto access = vfio_user::read_body<vfio_user::DmaAccess>(reply.body);
  return access.iova == slot.iova && access.count == slot.bytes;
}

std::string RemoteDma::answered(const vfio_user::Message& reply) {
  const ScopedLock lock(mutex_);
  const auto found = asked_.find(reply.header.id);
  if (found == asked_.end()) {
    return fmt::format("reply {} is to nothing that was asked", reply.header.id);
  }
  const auto key = found->second;
  asked_.erase(found);
  auto& slot = slots_[key];
  if (slot.id != reply.header.id || slot.state != State::pending) {
    return {};  // it was given up
  }
  if (std::exchange(slot.unwanted, false)) {
    slot.state = State::idle;
    return {};
  }
  const auto command = key.second ? vfio_user::Command::dma_write : vfio_user::Command::dma_read;
  if ((reply.header.flags & vfio_user::flag_error) != 0) {
    slot.state = State::refused;
    return {};
  }
  if (reply.command() != command || !fits(reply, slot, key.second)) {
    slot.state = State::refused;
    return fmt::format("reply {} does not fit what was asked", reply.header.id);
  }
  slot.data.assign(reply.body.begin() + sizeof(vfio_user::DmaAccess), reply.body.end());
  slot.state = State::done;
  return {};
}

void RemoteDma::close() {
  const ScopedLock lock(mutex_);
  closed_ = true;
  slots_.clear();
  asked_.clear();
}

std::uint64_t RemoteDma::messages() const {
  const ScopedLock lock(mutex_);
  return messages_;
}

}  // namespace datum::sim
