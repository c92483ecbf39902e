#include "vfio_backend/interrupts.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <cstring>
#include <linux/vfio.h>
#include <utility>

#include <fmt/format.h>

#include "vfio_backend/refusal.hpp"
#include "vfio_backend/uapi/zeroed.hpp"

namespace datum::vfio {

namespace {

/// A request of the kernel with descriptors behind it.
std::vector<std::byte> irq_request(unsigned index, std::span<const std::int32_t> fds) {
  auto head = uapi::zeroed<vfio_irq_set>();
  head.argsz = static_cast<std::uint32_t>(sizeof head + fds.size_bytes());
  head.flags =
      VFIO_IRQ_SET_ACTION_TRIGGER | (fds.empty() ? VFIO_IRQ_SET_DATA_NONE : VFIO_IRQ_SET_DATA_EVENTFD);
  head.index = index;
  head.count = static_cast<std::uint32_t>(fds.size());
  std::vector<std::byte> bytes(head.argsz);
  std::memcpy(bytes.data(), &head, sizeof head);
  std::ranges::copy(std::as_bytes(fds), bytes.begin() + sizeof head);
  return bytes;
}

int ask_for_count(Syscalls& syscalls, int device_fd, unsigned index, unsigned& count) {
  vfio_irq_info info{};
  info.argsz = sizeof info;
  info.index = index;
  const int result = syscalls.ioctl(device_fd, VFIO_DEVICE_GET_IRQ_INFO, &info);
  count = result < 0 || (info.flags & VFIO_IRQ_INFO_EVENTFD) == 0 ? 0 : info.count;
  return result;
}

}  // namespace

Interrupts::Interrupts(Syscalls& syscalls, const PciDevice& device, int device_fd)
    : syscalls_(syscalls), device_(device), device_fd_(device_fd) {}

Interrupts::Interrupts(Interrupts&& other) noexcept
    : syscalls_(other.syscalls_),
      device_(std::move(other.device_)),
      device_fd_(std::exchange(other.device_fd_, -1)),
      vectors_(std::move(other.vectors_)),
      error_(std::move(other.error_)),
      request_(std::move(other.request_)) {}

Interrupts::~Interrupts() {
  if (device_fd_ >= 0) {
    disconnect();
  }
}

void Interrupts::disconnect() noexcept {
  for (const unsigned index : {VFIO_PCI_MSIX_IRQ_INDEX, VFIO_PCI_ERR_IRQ_INDEX, VFIO_PCI_REQ_IRQ_INDEX}) {
    const bool in_use = index == VFIO_PCI_MSIX_IRQ_INDEX  ? !vectors_.empty()
                        : index == VFIO_PCI_ERR_IRQ_INDEX ? error_.valid()
                                                          : request_.valid();
    if (in_use) {
      std::vector<std::byte> none = irq_request(index, {});
      syscalls_.ioctl(device_fd_, VFIO_DEVICE_SET_IRQS, none.data());
    }
  }
}

Result<Interrupts> Interrupts::set_up(Syscalls& syscalls, const PciDevice& device, int device_fd) {
  Interrupts interrupts(syscalls, device, device_fd);
  if (Status status = interrupts.enable_vectors(); !status) {
    return std::move(status).error();
  }
  interrupts.enable_notice(VFIO_PCI_ERR_IRQ_INDEX, interrupts.error_);
  interrupts.enable_notice(VFIO_PCI_REQ_IRQ_INDEX, interrupts.request_);
  return interrupts;
}

Result<OwnedFd> Interrupts::make_eventfd() {
  const int fd = syscalls_.eventfd();
  if (fd < 0) {
    return Error{ErrorCode::out_of_host_memory, -fd,
                 fmt::format("{}: no eventfd to be had for an interrupt: {}", device_.description(),
                             std::strerror(-fd)),
                 "raise the limit of open files (ulimit -n)"};
  }
  return OwnedFd(syscalls_, fd);
}

Status Interrupts::enable_vectors() {
  unsigned count = 0;
  if (const int result = ask_for_count(syscalls_, device_fd_, VFIO_PCI_MSIX_IRQ_INDEX, count); result < 0) {
    return call_failed(device_, "asking for its interrupts", -result);
  }
  if (count == 0) {
    return make_error(
        ErrorCode::unsupported_feature,
        fmt::format("{} offers no MSI-X interrupts, which a board needs", device_.description()),
        "the board contract asks for one vector for each ring and two more");
  }
  std::vector<OwnedFd> made;
  std::vector<std::int32_t> fds;
  for (unsigned vector = 0; vector < count; ++vector) {
    Result<OwnedFd> fd = make_eventfd();
    if (!fd) {
      return std::move(fd).error();
    }
    fds.push_back(fd->get());
    made.push_back(std::move(fd).value());
  }
  std::vector<std::byte> request = irq_request(VFIO_PCI_MSIX_IRQ_INDEX, fds);
  const int result = syscalls_.ioctl(device_fd_, VFIO_DEVICE_SET_IRQS, request.data());
  if (result > 0) {
    return make_error(ErrorCode::out_of_host_memory,
                      fmt::format("{}: the machine has {} interrupt vectors left for it, it needs {}",
                                  device_.description(), result, count),
                      "free some: other devices of the machine hold them; see /proc/interrupts");
  }
  if (result < 0) {
    return call_failed(device_, fmt::format("setting up {} interrupt vectors", count), -result);
  }
  vectors_ = std::move(made);
  return {};
}

/// A kernel or a card without the notice is no obstacle: a loss then shows by reads of all ones.
void Interrupts::enable_notice(unsigned index, OwnedFd& fd) {
  unsigned count = 0;
  if (ask_for_count(syscalls_, device_fd_, index, count) < 0 || count == 0) {
    return;
  }
  Result<OwnedFd> made = make_eventfd();
  if (!made) {
    return;
  }
  const std::int32_t number = made->get();
  std::vector<std::byte> request = irq_request(index, {&number, 1});
  if (syscalls_.ioctl(device_fd_, VFIO_DEVICE_SET_IRQS, request.data()) >= 0) {
    fd = std::move(made).value();
  }
}

bool Interrupts::consume(int fd) noexcept {
  std::uint64_t count = 0;
  return fd >= 0 && syscalls_.read(fd, &count, sizeof count) == static_cast<ssize_t>(sizeof count);
}

std::vector<pollfd> Interrupts::entries_for(unsigned vector, int wake_fd) const {
  std::vector<pollfd> entries{{error_.get(), POLLIN, 0}, {request_.get(), POLLIN, 0}, {wake_fd, POLLIN, 0}};
  if (vector != board::any_vector) {
    entries.push_back({vectors_[vector].get(), POLLIN, 0});
    return entries;
  }
  for (const OwnedFd& fd : vectors_) {
    entries.push_back({fd.get(), POLLIN, 0});
  }
  return entries;
}

Result<Seen> Interrupts::wait(unsigned vector, int wake_fd, std::uint64_t timeout_ns) {
  constexpr std::uint64_t second_ns = 1'000'000'000;
  constexpr std::size_t first_vector = 3;
  std::vector<pollfd> entries = entries_for(vector, wake_fd);
  const timespec timeout{static_cast<time_t>(timeout_ns / second_ns),
                         static_cast<long>(timeout_ns % second_ns)};
  const int ready = syscalls_.poll(entries.data(), static_cast<unsigned>(entries.size()),
                                   timeout_ns == board::no_deadline ? nullptr : &timeout);
  if (ready == -EINTR || ready == 0) {
    return Seen::nothing;
  }
  if (ready < 0) {
    return call_failed(device_, "waiting for an interrupt", -ready);
  }
  bool consumed = false;
  for (std::size_t index = first_vector; index < entries.size(); ++index) {
    if ((entries[index].revents & POLLIN) != 0) {
      consumed = consume(entries[index].fd) || consumed;  // another thread may have been quicker
    }
  }
  if (consumed) {
    return Seen::interrupt;
  }
  if (entries[0].revents != 0 || entries[1].revents != 0) {
    return Seen::notice;
  }
  return entries[2].revents != 0 ? Seen::woken : Seen::nothing;
}

KernelNotice Interrupts::notice() noexcept {
  std::array<pollfd, 2> entries{{{error_.get(), POLLIN, 0}, {request_.get(), POLLIN, 0}}};
  const timespec at_once{};
  if (syscalls_.poll(entries.data(), static_cast<unsigned>(entries.size()), &at_once) <= 0) {
    return {};
  }
  return {entries[0].revents != 0, entries[1].revents != 0};
}

void Interrupts::clear() noexcept {
  for (const OwnedFd& fd : vectors_) {
    consume(fd.get());
  }
  consume(error_.get());
}

}  // namespace datum::vfio
