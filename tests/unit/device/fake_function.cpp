#include "tests/unit/device/fake_function.hpp"

#include <algorithm>
#include <cstring>
#include <poll.h>
#include <sys/eventfd.h>
#include <unistd.h>

#include "driver/device/host_clock.hpp"

namespace datum::test {

std::uint32_t FakeBar::read32(std::uint64_t offset) noexcept {
  const std::lock_guard lock(mutex_);
  return dead ? ~0U : words_[offset / 4];
}

std::uint64_t FakeBar::read64(std::uint64_t offset) noexcept {
  const std::lock_guard lock(mutex_);
  return dead ? ~0ULL : words_[offset / 4] | (std::uint64_t{words_[offset / 4 + 1]} << 32U);
}

void FakeBar::set32(std::uint64_t offset, std::uint32_t value) {
  const std::lock_guard lock(mutex_);
  words_[offset / 4] = value;
}

void FakeBar::set64(std::uint64_t offset, std::uint64_t value) {
  set32(offset, static_cast<std::uint32_t>(value));
  set32(offset + 4, static_cast<std::uint32_t>(value >> 32U));
}

void FakeBar::write32(std::uint64_t offset, std::uint32_t value) noexcept {
  set32(offset, value);
  if (on_write) {
    on_write(offset, value);
  }
}

void FakeBar::write64(std::uint64_t offset, std::uint64_t value) noexcept {
  set64(offset, value);
  if (on_write) {
    on_write(offset, value);
  }
}

void FakeBar::read_block(std::uint64_t offset, std::span<std::byte> to) noexcept {
  const std::lock_guard lock(mutex_);
  std::memcpy(to.data(), reinterpret_cast<const std::byte*>(words_.data()) + offset, to.size());
}

void FakeBar::write_block(std::uint64_t offset, std::span<const std::byte> from) noexcept {
  const std::lock_guard lock(mutex_);
  std::memcpy(reinterpret_cast<std::byte*>(words_.data()) + offset, from.data(), from.size());
}

FakeFunction::FakeFunction()
    : registers(std::make_shared<FakeBar>(hw::bar0_bytes)),
      aperture(std::make_shared<FakeBar>(8ULL << 20U)),
      interrupts_(::eventfd(0, EFD_CLOEXEC | EFD_NONBLOCK)) {
  info_.address = "fake:";
  info_.vectors = vectors;
  registers->set32(hw::magic, hw::magic_value);
  registers->set32(hw::version, hw::VersionRegister{}.set_major(hw::version_major).set_minor(0).raw);
  registers->set32(hw::ring_count, 4);
  registers->set32(hw::channel_count, 2);
  registers->set32(hw::space_count, 8);
  registers->set32(hw::vector_count, 6);
  registers->set64(hw::memory_bytes, 64ULL << 20U);
  registers->set64(hw::onchip_bytes, 1ULL << 20U);
  registers->set64(hw::aperture_fixed_bytes, 4ULL << 20U);
  registers->set64(hw::aperture_window_bytes, 4ULL << 20U);
  registers->set64(hw::clock_hz, 300'000'000);
  registers->set64(hw::timer_hz, 1'000'000'000);
  registers->set32(hw::status, hw::StatusRegister{}.set_memory_ready(true).set_memory_clean(true).raw);
  // Reset and stopping a ring are over at once.
  registers->on_write = [bar = registers.get()](std::uint64_t offset, std::uint64_t /*value*/) {
    if (offset == hw::reset) {
      bar->set32(hw::reset, 0);
    }
  };
}

Result<board::Bar*> FakeFunction::bar(unsigned index) {
  if (index == 0) {
    return static_cast<board::Bar*>(registers.get());
  }
  if (index == 2) {
    return static_cast<board::Bar*>(aperture.get());
  }
  return make_error(ErrorCode::not_available, "no such BAR");
}

Result<board::WaitOutcome> FakeFunction::wait(unsigned /*vector*/, int wake_fd, std::uint64_t deadline_ns) {
  ++wait_calls;
  while (true) {
    if (lost_) {
      return make_error(ErrorCode::device_lost, "the fake board was lost");
    }
    const std::uint64_t now_ns = host_now_ns();
    const std::uint64_t left_ns = stepped ? 0 : (deadline_ns > now_ns ? deadline_ns - now_ns : 0);
    pollfd both[2] = {{interrupts_.get(), POLLIN, 0}, {wake_fd, POLLIN, 0}};
    const timespec nap{static_cast<time_t>(left_ns / 1'000'000'000),
                       static_cast<long>(left_ns % 1'000'000'000)};
    ::ppoll(both, 2, &nap, nullptr);
    if ((both[0].revents & POLLIN) != 0) {
      std::uint64_t count = 0;
      if (::read(interrupts_.get(), &count, sizeof count) == sizeof count && !lost_) {
        return board::WaitOutcome::interrupt;
      }
      continue;
    }
    if ((both[1].revents & POLLIN) != 0) {
      return board::WaitOutcome::woken;
    }
    if (stepped) {
      return board::WaitOutcome::quiescent;
    }
    if (host_now_ns() >= deadline_ns) {
      return board::WaitOutcome::deadline;
    }
  }
}

board::Clock FakeFunction::clock() noexcept {
  if (clock_step_ns != 0) {
    return {own_clock_ns_ += clock_step_ns, wait_scale};
  }
  return {stepped ? own_clock_ns_.load() : host_now_ns(), wait_scale};
}

Status FakeFunction::health() {
  return lost_ ? Status(make_error(ErrorCode::device_lost, "the fake board was lost")) : Status{};
}

void FakeFunction::raise() {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t bytes = ::write(interrupts_.get(), &one, sizeof one);
}

void FakeFunction::lose() {
  lost_ = true;
  raise();
}

}  // namespace datum::test
