#include "driver/memory/ipc_handle.hpp"

#include <algorithm>
#include <cerrno>
#include <cstddef>
#include <cstdlib>
#include <cstring>
#include <fcntl.h>
#include <span>
#include <sys/mman.h>
#include <sys/random.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

#include <datum/base/address.hpp>
#include <datum/base/memory_file.hpp>

#include "driver/memory/host_limits.hpp"

namespace datum {
namespace {

constexpr std::uint32_t handle_magic = 0x31435044;  // "DPC1": format and version
constexpr std::string_view label_start = "datum:";
constexpr std::string_view kind_letters = "dherc";  // in the order of SharedKind, which begins with 1
constexpr int needed_seals = F_SEAL_SHRINK | F_SEAL_GROW | F_SEAL_SEAL;

/// The handle as it travels: fixed sizes, no gaps.
struct Wire {
  std::int32_t fd = -1;
  std::uint32_t magic = 0;
  std::uint8_t kind = 0;
  std::uint8_t flags = 0;  // of a counter the event's, as the scopes; of memory its rights
  std::uint8_t signal_scope = 0;
  std::uint8_t wait_scope = 0;
  std::int32_t process = 0;
  std::uint64_t size_or_value = 0;  // of a counter the value
  std::array<std::uint8_t, 16> token{};
  std::uint64_t file_system = 0;
  std::uint64_t inode = 0;
  std::uint64_t broker = 0;
};

static_assert(sizeof(Wire) == sizeof(IpcHandleBytes) && std::has_unique_object_representations_v<Wire>);

Error not_ours(int fd, std::string_view why) {
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("descriptor {} is not memory that Datum shares: {}", fd, why));
}

// The rights as they travel: the bias in the low bits.
constexpr std::uint8_t cache_policy_bits = 0x7;
constexpr std::uint8_t read_only_bit = 0x8;

std::uint8_t flags_of(PageRights rights) noexcept {
  return static_cast<std::uint8_t>((rights.cache_policy & cache_policy_bits) |
                                   (rights.writable ? 0 : read_only_bit));
}

PageRights rights_in(std::uint8_t flags) noexcept {
  return {.writable = (flags & read_only_bit) == 0,
          .cache_policy = static_cast<std::uint8_t>(flags & cache_policy_bits)};
}

constexpr bool has_rights(SharedKind kind) noexcept {
  return kind == SharedKind::device || kind == SharedKind::host;
}

int hex_value(char digit) noexcept {
  constexpr std::string_view digits = "0123456789abcdef";
  const auto at = digits.find(digit);
  return at == std::string_view::npos ? -1 : static_cast<int>(at);
}

/// "datum:d:<32 digits>"; false: something else.
bool read_label(std::string_view label, SharedFileIdentity& identity) noexcept {
  if (!label.starts_with(label_start)) {
    return false;
  }
  label.remove_prefix(label_start.size());
  if (label.size() != 2 + 2 * identity.token.bytes.size() || label[1] != ':') {
    return false;
  }
  const auto kind = kind_letters.find(label[0]);
  if (kind == std::string_view::npos) {
    return false;
  }
  identity.kind = static_cast<SharedKind>(kind + 1);
  label.remove_prefix(2);
  for (std::size_t index = 0; index < identity.token.bytes.size(); ++index) {
    const int high = hex_value(label[2 * index]);
    const int low = hex_value(label[2 * index + 1]);
    if (high < 0 || low < 0) {
      return false;
    }
    identity.token.bytes[index] = static_cast<std::uint8_t>(high << 4 | low);
  }
  return true;
}

/// The name that the file was made with; empty: it has none of the kind.
std::string name_of_memfd(int fd) {
  constexpr std::string_view before = "/memfd:";
  constexpr std::string_view after = " (deleted)";
  std::array<char, 128> target{};
  const ssize_t got = ::readlink(fmt::format("/proc/self/fd/{}", fd).c_str(), target.data(), target.size());
  const std::string_view link(target.data(), got < 0 ? 0 : static_cast<std::size_t>(got));
  if (!link.starts_with(before) || !link.ends_with(after)) {
    return {};
  }
  return std::string(link.substr(before.size(), link.size() - before.size() - after.size()));
}

}  // namespace

std::size_t IpcTokenHash::operator()(const IpcToken& token) const noexcept {
  std::size_t part = 0;
  std::memcpy(&part, token.bytes.data(), sizeof part);  // random already
  return part;
}

Result<IpcToken> make_ipc_token() {
  IpcToken token;
  if (::getrandom(token.bytes.data(), token.bytes.size(), 0) != static_cast<ssize_t>(token.bytes.size())) {
    return Error{ErrorCode::unknown, errno, "the system gives no random numbers", {}};
  }
  return token;
}

std::string shared_file_label(SharedKind kind, const IpcToken& token) {
  std::string label = fmt::format("{}{}:", label_start, kind_letters[static_cast<std::size_t>(kind) - 1]);
  for (const std::uint8_t byte : token.bytes) {
    label += fmt::format("{:02x}", byte);
  }
  return label;
}

Result<SharedFileIdentity> identify_shared_file(int fd) {
  const int seals = fd < 0 ? -1 : ::fcntl(fd, F_GET_SEALS);
  if (seals < 0) {
    return not_ours(fd, "it is no open memory file");
  }
  if ((seals & needed_seals) != needed_seals) {
    return not_ours(fd, "its size is not fixed");
  }

  struct stat status {};

  SharedFileIdentity identity;
  if (::fstat(fd, &status) != 0 || !read_label(name_of_memfd(fd), identity)) {
    return not_ours(fd, "it does not bear the name of such a file");
  }
  if (identity.kind == SharedKind::range && (seals & F_SEAL_WRITE) == 0) {
    return not_ours(fd, "it lists parts of memory and can be written");
  }
  identity.bytes = static_cast<std::uint64_t>(status.st_size);
  identity.file_system = status.st_dev;
  identity.inode = status.st_ino;
  if (identity.bytes == 0 || !is_aligned(identity.bytes, small_page_bytes)) {
    return not_ours(fd, "it is not made of whole pages");
  }
  return identity;
}

Status seal_shared_file(int fd) {
  if (::fcntl(fd, F_ADD_SEALS, needed_seals) != 0) {
    return Error{ErrorCode::out_of_host_memory,
                 errno,
                 fmt::format("the size of a memory file cannot be fixed: {}", std::strerror(errno)),
                 {}};
  }
  return {};
}

Result<UniqueFd> make_shared_file(SharedKind kind, const IpcToken& token, std::uint64_t bytes) {
  UniqueFd file = make_memory_file(shared_file_label(kind, token).c_str());
  const int error = file.valid() ? resize_memory_file(file.get(), bytes) : errno;
  if (error != 0) {
    return no_host_memory(fmt::format("no file to be had for {} bytes of shared memory", bytes), error);
  }
  if (Status sealed = seal_shared_file(file.get()); !sealed.ok()) {
    return std::move(sealed).error();
  }
  return file;
}

IpcHandleBytes encode(const IpcHandle& handle) noexcept {
  Wire wire;
  wire.fd = handle.fd;
  if (handle.hints) {
    wire.magic = handle_magic;
    wire.kind = static_cast<std::uint8_t>(handle.hints->file.kind);
    wire.process = handle.hints->broker.process;
    wire.size_or_value = handle.hints->size_bytes;
    wire.flags = has_rights(handle.hints->file.kind) ? flags_of(handle.hints->rights) : std::uint8_t{0};
    if (handle.hints->file.kind == SharedKind::counter) {
      const SharedEventPoint& point = handle.hints->point;
      wire.size_or_value = point.value;
      wire.flags = point.flags;
      wire.signal_scope = point.signal_scope;
      wire.wait_scope = point.wait_scope;
    }
    wire.token = handle.hints->file.token.bytes;
    wire.file_system = handle.hints->file.file_system;
    wire.inode = handle.hints->file.inode;
    wire.broker = handle.hints->broker.number;
  }
  IpcHandleBytes bytes{};
  std::memcpy(bytes.data(), &wire, sizeof wire);
  return bytes;
}

Result<IpcHandle> decode_ipc_handle(const IpcHandleBytes& bytes) {
  Wire wire;
  std::memcpy(&wire, bytes.data(), sizeof wire);
  IpcHandle handle{wire.fd, std::nullopt};
  const auto rest = std::span(bytes).subspan(sizeof wire.fd);
  if (std::ranges::all_of(rest, [](char byte) { return byte == 0; })) {
    return handle;
  }
  const bool known_kind = wire.kind != 0 && wire.kind <= kind_letters.size();
  const bool counter = wire.kind == static_cast<std::uint8_t>(SharedKind::counter);
  const auto kind = static_cast<SharedKind>(wire.kind);
  const unsigned known_flags = has_rights(kind) ? cache_policy_bits | read_only_bit : 0U;
  const bool of_event = (wire.signal_scope | wire.wait_scope) != 0 || (wire.flags & ~known_flags) != 0;
  if (wire.magic != handle_magic || !known_kind || (!counter && (wire.size_or_value == 0 || of_event))) {
    return make_error(ErrorCode::invalid_argument, "these bytes are no IPC handle of Datum's memory");
  }
  IpcHints hints;
  hints.file = {kind, {wire.token}, 0, wire.file_system, wire.inode};
  if (counter) {
    hints.point = {wire.size_or_value, wire.flags, wire.signal_scope, wire.wait_scope};
  } else {
    hints.size_bytes = wire.size_or_value;
    hints.rights = rights_in(wire.flags);
  }
  hints.broker = {wire.process, wire.broker};
  handle.hints = hints;
  return handle;
}

std::optional<IpcToken> memory_token_in(const IpcHandleBytes& bytes) noexcept {
  if (holds_words(static_cast<SharedKind>(bytes[offsetof(Wire, kind)]))) {
    return std::nullopt;
  }
  IpcToken token;
  std::memcpy(token.bytes.data(), bytes.data() + offsetof(Wire, token), token.bytes.size());
  return token;
}

bool agree(const IpcHints& hints, const SharedFileIdentity& file) noexcept {
  const bool size_agrees =
      file.kind == SharedKind::counter ||
      (hints.size_bytes <= file.bytes && file.bytes - hints.size_bytes < small_page_bytes);
  return hints.file.kind == file.kind && hints.file.token == file.token &&
         hints.file.file_system == file.file_system && hints.file.inode == file.inode && size_agrees;
}

}  // namespace datum
