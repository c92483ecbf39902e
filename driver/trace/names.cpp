#include "driver/trace/names.hpp"

#include <algorithm>

namespace datum::trace {

namespace {

void put(Names::Name& slot, std::uint32_t number, std::string_view text) noexcept {
  slot.text.fill('\0');
  std::copy_n(text.begin(), std::min(text.size(), slot.text.size() - 1), slot.text.begin());
  slot.number.store(number, std::memory_order_release);
}

}  // namespace

void Names::add_thread(std::uint32_t thread, std::string_view name) noexcept {
  const std::uint32_t index = thread_count_.fetch_add(1, std::memory_order_relaxed);
  if (index < threads_.size()) {
    put(threads_[index], thread, name);
  }
}

std::uint8_t Names::add_board(std::string_view address) noexcept {
  const std::uint32_t index = std::min<std::uint32_t>(board_count_.fetch_add(1, std::memory_order_relaxed),
                                                      static_cast<std::uint32_t>(boards_.size() - 1));
  put(boards_[index], index + 1, address);
  return static_cast<std::uint8_t>(index);
}

void Names::clear() noexcept {
  for (Name& name : threads_) {
    name.number.store(0, std::memory_order_relaxed);
  }
  for (Name& name : boards_) {
    name.number.store(0, std::memory_order_relaxed);
  }
  thread_count_.store(0, std::memory_order_relaxed);
  board_count_.store(0, std::memory_order_relaxed);
}

}  // namespace datum::trace
