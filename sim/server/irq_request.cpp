#include "sim/server/irq_request.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <string_view>
#include <unistd.h>

#include <fmt/format.h>

namespace datum::sim {

namespace {

constexpr std::uint32_t data_flags =
    vfio_user::irq_set_no_data | vfio_user::irq_set_bytes | vfio_user::irq_set_eventfd;

/// Anything else would be written to without knowing what that does.
bool is_eventfd(int fd) {
  std::array<char, 64> target{};
  const auto length = ::readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), target.data(), target.size());
  return length > 0 &&
         std::string_view(target.data(), static_cast<std::size_t>(length)) == "anon_inode:[eventfd]";
}

int set_eventfds(ServedBoard& board, const vfio_user::IrqSet& set, std::vector<UniqueFd> descriptors) {
  if (descriptors.empty()) {
    descriptors.resize(set.count);  // disconnects
  }
  const bool good = std::ranges::all_of(
      descriptors, [](const UniqueFd& fd) { return !fd.valid() || is_eventfd(fd.get()); });
  if (descriptors.size() != set.count || !good) {
    return EINVAL;
  }
  board.connect(set.index, set.start, std::move(descriptors));
  return 0;
}

/// Raises interrupts as the board would; with a count of 0, disconnects all of them.
int trigger_without_data(ServedBoard& board, const vfio_user::IrqSet& set) {
  if (set.count == 0 && set.start == 0) {
    std::vector<UniqueFd> none(board.irq_count(set.index));
    board.connect(set.index, 0, std::move(none));
    return 0;
  }
  for (std::uint32_t vector = 0; vector < set.count; ++vector) {
    board.trigger(set.index, set.start + vector);
  }
  return 0;
}

}  // namespace

int set_irqs(ServedBoard& board, vfio_user::Message& message) {
  if (message.body.size() < sizeof(vfio_user::IrqSet)) {
    return EINVAL;
  }
  const auto set = vfio_user::read_body<vfio_user::IrqSet>(message.body);
  const auto extra = std::span{message.body}.subspan(sizeof set);
  const auto count = set.index < vfio_user::pci_irq_count ? board.irq_count(set.index) : 0;
  const auto data = set.flags & data_flags;
  const bool with_bytes = data == vfio_user::irq_set_bytes;
  const bool sane = set.argsz >= sizeof set && set.start <= count && set.count <= count - set.start &&
                    extra.size() == (with_bytes ? set.count : 0) &&
                    (message.descriptors.empty() || data == vfio_user::irq_set_eventfd);
  // MSI-X vectors are masked in the table of BAR4 and not here; the notices cannot be masked.
  if (!sane || set.flags != (data | vfio_user::irq_set_trigger)) {
    return EINVAL;
  }
  switch (data) {
  case vfio_user::irq_set_eventfd:
    return set_eventfds(board, set, std::move(message.descriptors));
  case vfio_user::irq_set_no_data:
    return trigger_without_data(board, set);
  case vfio_user::irq_set_bytes:
    for (std::uint32_t vector = 0; vector < set.count; ++vector) {
      if (extra[vector] != std::byte{0}) {
        board.trigger(set.index, set.start + vector);
      }
    }
    return 0;
  default:
    return EINVAL;
  }
}

}  // namespace datum::sim
