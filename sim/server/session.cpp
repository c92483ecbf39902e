#include "sim/server/session.hpp"

#include <array>
#include <cerrno>
#include <cstring>
#include <poll.h>
#include <sys/socket.h>
#include <utility>

#include <fmt/format.h>

#include "sim/server/irq_request.hpp"
#include "vfio_user/capabilities.hpp"

namespace datum::sim {

namespace {

using vfio_user::Command;
using vfio_user::Message;

int process_of(int socket) {
  ucred peer{};
  socklen_t bytes = sizeof peer;
  return ::getsockopt(socket, SOL_SOCKET, SO_PEERCRED, &peer, &bytes) == 0 ? peer.pid : 0;
}

/// The structure that the body is, and nothing but it.
template <class Body>
bool holds_exactly(const Message& message, Body& body) {
  if (message.body.size() != sizeof body) {
    return false;
  }
  body = vfio_user::read_body<Body>(message.body);
  return true;
}

/// Which commands may come with descriptors.
bool takes_descriptors(Command command) {
  return command == Command::dma_map || command == Command::device_set_irqs;
}

}  // namespace

Session::Session(UniqueFd socket, ServedBoard& board, ActivityLog& log, std::string name, Role role)
    : socket_(std::move(socket)),
      board_(board),
      log_(log),
      name_(std::move(name)),
      role_(role),
      client_process_(process_of(socket_.get())),
      outbox_(socket_.get()),
      dma_(outbox_) {
  if (role_ == Role::client) {
    board_.reach_rest_through(&dma_);
  }
}

Session::~Session() {
  dma_.close();
  if (role_ == Role::client) {
    board_.reach_rest_through(nullptr);
  }
}

void Session::end() noexcept { ::shutdown(socket_.get(), SHUT_RDWR); }

bool Session::client_is_gone() const noexcept {
  pollfd entry{socket_.get(), POLLRDHUP, 0};
  return ::poll(&entry, 1, 0) > 0 && (entry.revents & (POLLRDHUP | POLLHUP | POLLERR)) != 0;
}

std::string Session::status() const {
  return fmt::format(
      "client process {}, {} requests, {} refused, {} accesses to its memory by message, {} mappings",
      client_process_, requests_.load(), refused_.load(), dma_.messages(), board_.mappings());
}

/// False: the connection is to end.
bool Session::wait_for_message() {
  for (;;) {
    loss_reported_ = loss_reported_ && board_.is_lost();  // a reset may have brought it back
    std::array<pollfd, 2> fds{{{socket_.get(), POLLIN, 0}, {board_.lost_descriptor(), POLLIN, 0}}};
    const nfds_t count = loss_reported_ || role_ == Role::onlooker ? 1 : 2;  // an onlooker reads all ones
    if (::poll(fds.data(), count, -1) < 0) {
      if (errno == EINTR) {
        continue;
      }
      return false;
    }
    if (count == 2 && fds[1].revents != 0) {
      loss_reported_ = true;
      log_.say(name_, fmt::format("the board is lost: {}", board_.report_loss()));
    }
    if (fds[0].revents != 0) {
      return true;
    }
  }
}

void Session::serve() {
  log_.say(name_, fmt::format("process {} {}", client_process_,
                              role_ == Role::client ? "is connected" : "looks at the board"));
  while (wait_for_message()) {
    auto message = vfio_user::receive_message(socket_.get());
    if (!message) {
      log_.say(name_, fmt::format("the connection ends: {}", message.error().message));
      break;
    }
    if (!message->has_value()) {
      break;
    }
    take(std::move(**message));
  }
  end();
  log_.say(name_, fmt::format("process {} is gone after {} requests, of which {} were refused",
                              client_process_, requests_.load(), refused_.load()));
}

void Session::take(Message message) {
  log_.show(name_, "<-", message.header, message.body, message.descriptors.size());
  const auto type = message.header.flags & vfio_user::flag_type_mask;
  if (type == vfio_user::type_reply && negotiated_) {
    if (const std::string complaint = dma_.answered(message); !complaint.empty()) {
      ++refused_;
      log_.say(name_, complaint);
    }
    return;
  }
  if (type == vfio_user::type_reply) {
    ++refused_;  // nothing was asked yet; an answer to an answer would be one too many
    return;
  }
  ++requests_;
  const bool in_order = negotiated_ != (message.command() == Command::version);
  const bool known = (message.header.flags & ~vfio_user::known_flags) == 0 &&
                     type == vfio_user::type_command && (message.header.flags & vfio_user::flag_error) == 0;
  if (!in_order || !known || (!message.descriptors.empty() && !takes_descriptors(message.command()))) {
    refuse(message, EINVAL);
    return;
  }
  const Reply reply = role_ == Role::client ? serve_command(message) : serve_onlooker(message);
  if (reply.error != 0) {
    refuse(message, reply.error);
  } else {
    answer(message, reply);
  }
}

void Session::refuse(const Message& message, int error) {
  ++refused_;
  log_.say(name_, fmt::format("refused ({}): {}", std::strerror(error),
                              describe(message.header, message.body, message.descriptors.size())));
  answer(message, {error, {}, -1});
}

void Session::answer(const Message& message, const Reply& reply) {
  if ((message.header.flags & vfio_user::flag_no_reply) != 0) {
    return;
  }
  vfio_user::Header header = message.header;
  header.flags = vfio_user::type_reply | (reply.error != 0 ? vfio_user::flag_error : 0U);
  header.error = static_cast<std::uint32_t>(reply.error);
  log_.show(name_, "->", header, reply.body, reply.descriptor >= 0 ? 1 : 0);
  outbox_.send(header, reply.body, reply.descriptor);
}

Session::Reply Session::serve_command(Message& message) {
  switch (message.command()) {
  case Command::version:
    return serve_version(message);
  case Command::dma_map:
    return serve_map(message);
  case Command::dma_unmap:
    return serve_unmap(message);
  case Command::device_get_info:
    return serve_device_info(message);
  case Command::device_get_region_info:
    return serve_region_info(message);
  case Command::device_get_irq_info:
    return serve_irq_info(message);
  case Command::device_set_irqs:
    return serve_irq_set(message);
  case Command::region_read:
    return serve_region_read(message);
  case Command::region_write:
    return serve_region_write(message);
  case Command::device_reset:
    return serve_reset(message);
  case Command::device_get_region_io_fds:
    return {ENOTSUP, {}, -1};
  case Command::dma_read:  // only the server asks for memory
  case Command::dma_write:
    break;
  }
  return {EINVAL, {}, -1};
}

/// Writes to configuration space and interrupt table, and the choice of eventfds, are the client's alone;
/// clients of the protocol make them when they open a board, so they are accepted and have no effect.
Session::Reply Session::serve_onlooker(Message& message) {
  switch (message.command()) {
  case Command::dma_map:
  case Command::dma_unmap:
  case Command::device_reset:
    return {EPERM, {}, -1};
  case Command::device_set_irqs:
    return {0, {}, -1};
  case Command::region_write: {
    constexpr std::uint32_t aperture_index = 2;
    const bool whole = message.body.size() >= sizeof(vfio_user::RegionAccess);
    const auto access =
        whole ? vfio_user::read_body<vfio_user::RegionAccess>(message.body) : vfio_user::RegionAccess{};
    return whole && access.region > aperture_index ? Reply{0, vfio_user::as_message_body(access), -1}
                                                   : serve_region_write(message);
  }
  default:
    return serve_command(message);
  }
}

Session::Reply Session::serve_version(const Message& message) {
  const auto wanted = vfio_user::decode_version(message.body);
  if (!wanted) {
    log_.say(name_, wanted.error().message);
    return {wanted.error().code == ErrorCode::unsupported_version ? ENOTSUP : EINVAL, {}, -1};
  }
  vfio_user::Capabilities offered;
  offered.max_descriptors = vfio_user::most_descriptors;
  offered.max_data_bytes = vfio_user::most_data_bytes;
  if (wanted->board) {
    offered.board = board_.capabilities();
  }
  Reply reply{0, vfio_user::encode_version(offered), -1};
  if (!wanted->board && reply.body.size() > message.body.size()) {
    reply.body.resize(sizeof(vfio_user::Version));  // QEMU has no room for more than it sent
  }
  negotiated_ = true;
  return reply;
}

Session::Reply Session::serve_map(Message& message) {
  vfio_user::DmaMap map;
  if (!holds_exactly(message, map) || message.descriptors.size() > 1) {
    return {EINVAL, {}, -1};
  }
  return {board_.map(map, message.descriptors.empty() ? -1 : message.descriptors.front().get()), {}, -1};
}

Session::Reply Session::serve_unmap(const Message& message) {
  vfio_user::DmaUnmap unmap;
  if (!holds_exactly(message, unmap)) {
    return {EINVAL, {}, -1};
  }
  return {board_.unmap(unmap), message.body, -1};
}

Session::Reply Session::serve_device_info(const Message& message) {
  vfio_user::DeviceInfo info;
  if (!holds_exactly(message, info) || info.argsz < sizeof info) {
    return {EINVAL, {}, -1};
  }
  return {0,
          vfio_user::as_message_body(
              vfio_user::DeviceInfo{sizeof info, vfio_user::device_is_pci | vfio_user::device_can_reset,
                                    vfio_user::pci_region_count, vfio_user::pci_irq_count}),
          -1};
}

/// The client says by argsz how much it has room for; what does not fit it asks for again with more.
Session::Reply Session::serve_region_info(const Message& message) {
  vfio_user::RegionInfo asked;
  if (!holds_exactly(message, asked) || asked.argsz < sizeof asked ||
      asked.index >= vfio_user::pci_region_count) {
    return {EINVAL, {}, -1};
  }
  vfio_user::RegionInfo info{sizeof info, 0, asked.index, 0, board_.region_bytes(asked.index), 0};
  if (info.bytes != 0) {
    info.flags = vfio_user::region_read_flag | vfio_user::region_write_flag;
  }
  constexpr std::uint32_t aperture_index = 2;
  if (asked.index != aperture_index) {
    return {0, vfio_user::as_message_body(info), -1};
  }
  info.flags |= vfio_user::region_mmap_flag;
  const vfio_user::SparseCapability sparse{vfio_user::sparse_capability, 1, 0, 1, 0};
  const vfio_user::SparseArea area{0, board_.mappable_bytes()};
  info.argsz = sizeof info + sizeof sparse + sizeof area;
  const bool fits = asked.argsz >= info.argsz;
  if (fits) {
    info.flags |= vfio_user::region_capabilities_flag;
    info.capability_offset = sizeof info;
  }
  Reply reply{0, vfio_user::as_message_body(info), board_.aperture_descriptor()};
  if (fits) {
    vfio_user::append(reply.body, sparse);
    vfio_user::append(reply.body, area);
  }
  return reply;
}

Session::Reply Session::serve_irq_info(const Message& message) {
  vfio_user::IrqInfo asked;
  if (!holds_exactly(message, asked) || asked.argsz < sizeof asked ||
      asked.index >= vfio_user::pci_irq_count) {
    return {EINVAL, {}, -1};
  }
  const auto count = board_.irq_count(asked.index);
  const auto flags = count == 0 ? 0 : vfio_user::irq_eventfd_flag | vfio_user::irq_no_resize_flag;
  return {0, vfio_user::as_message_body(vfio_user::IrqInfo{sizeof asked, flags, asked.index, count}), -1};
}

Session::Reply Session::serve_irq_set(Message& message) { return {set_irqs(board_, message), {}, -1}; }

bool Session::lies_in_region(const vfio_user::RegionAccess& access) const noexcept {
  const auto bytes = access.region < vfio_user::pci_region_count ? board_.region_bytes(access.region) : 0;
  return access.count != 0 && access.count <= vfio_user::most_data_bytes && access.offset < bytes &&
         access.count <= bytes - access.offset;
}

Session::Reply Session::serve_region_read(const Message& message) {
  vfio_user::RegionAccess access;
  if (!holds_exactly(message, access) || !lies_in_region(access)) {
    return {EINVAL, {}, -1};
  }
  Reply reply{0, vfio_user::as_message_body(access), -1};
  reply.body.resize(sizeof access + access.count);
  board_.read_region(access, std::span{reply.body}.subspan(sizeof access));
  return reply;
}

Session::Reply Session::serve_region_write(const Message& message) {
  if (message.body.size() < sizeof(vfio_user::RegionAccess)) {
    return {EINVAL, {}, -1};
  }
  const auto access = vfio_user::read_body<vfio_user::RegionAccess>(message.body);
  if (message.body.size() - sizeof access != access.count || !lies_in_region(access)) {
    return {EINVAL, {}, -1};
  }
  board_.write_region(access, std::span{message.body}.subspan(sizeof access));
  return {0, vfio_user::as_message_body(access), -1};
}

Session::Reply Session::serve_reset(const Message& message) {
  if (!message.body.empty()) {
    return {EINVAL, {}, -1};
  }
  return {board_.reset(), {}, -1};
}

}  // namespace datum::sim
