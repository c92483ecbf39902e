#include "sim/server/onlookers.hpp"

#include <utility>

#include <datum/base/mutex.hpp>

namespace datum::sim {

Onlookers::Onlookers(ActivityLog& log, std::string name) : log_(log), name_(std::move(name)) {}

Onlookers::~Onlookers() { end_all(); }

void Onlookers::remove_ended() {
  std::erase_if(all_, [](const std::unique_ptr<Onlooker>& onlooker) {
    if (!onlooker->ended.load(std::memory_order_acquire)) {
      return false;
    }
    onlooker->thread.join();
    return true;
  });
}

bool Onlookers::admit(UniqueFd& socket, ServedBoard& board) {
  const ScopedLock lock(mutex_);
  remove_ended();
  if (all_.size() >= most) {
    return false;
  }
  auto onlooker = std::make_unique<Onlooker>();
  Onlooker& self = *onlooker;
  self.session = std::make_unique<Session>(std::move(socket), board, log_, name_, Session::Role::onlooker);
  self.thread = std::thread([&self] {
    self.session->serve();
    self.ended.store(true, std::memory_order_release);
  });
  all_.push_back(std::move(onlooker));
  return true;
}

void Onlookers::end_all() {
  const ScopedLock lock(mutex_);
  for (const auto& onlooker : all_) {
    onlooker->session->end();
  }
  for (const auto& onlooker : all_) {
    onlooker->thread.join();
  }
  all_.clear();
}

}  // namespace datum::sim
