// The 64 bytes of an IPC handle, and what a descriptor of shared memory says about itself.
#pragma once

#include <array>
#include <cstddef>
#include <cstdint>
#include <optional>
#include <string>
#include <string_view>
#include <sys/types.h>

#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>

#include "driver/memory/page_rights.hpp"

namespace datum {

/// Identity of one exported file: random, so that nobody guesses one and none comes twice.
struct IpcToken {
  std::array<std::uint8_t, 16> bytes{};

  friend constexpr bool operator==(const IpcToken&, const IpcToken&) = default;
};

struct IpcTokenHash {
  [[nodiscard]] std::size_t operator()(const IpcToken& token) const noexcept;
};

Result<IpcToken> make_ipc_token();

/// What a file holds. It decides how an importer maps it.
enum class SharedKind : std::uint8_t {
  device = 1,
  host = 2,
  events = 3,
  range = 4,  ///< no memory but a list of parts of other files: SharedRange
  counter = 5
};

/// Words that boards and hosts of several processes signal with, and no memory of the application's.
[[nodiscard]] constexpr bool holds_words(SharedKind kind) noexcept {
  return kind == SharedKind::events || kind == SharedKind::counter;
}

/// The name of the file: kind and token, which so travel with every descriptor of it.
[[nodiscard]] std::string shared_file_label(SharedKind kind, const IpcToken& token);

/// What a descriptor says about its file. Nothing in it comes from who sent the descriptor.
struct SharedFileIdentity {
  SharedKind kind = SharedKind::device;
  IpcToken token;
  std::uint64_t bytes = 0;  ///< length, whole pages
  std::uint64_t file_system = 0;
  std::uint64_t inode = 0;

  friend constexpr bool operator==(const SharedFileIdentity&, const SharedFileIdentity&) = default;
};

/// invalid_argument: not an open descriptor of a memfd with such a name, of whole pages, that nobody can
/// resize, and if it is of a range nobody can write.
Result<SharedFileIdentity> identify_shared_file(int fd);

/// A new file of `bytes` (whole pages, zero) that nobody can resize. out_of_host_memory.
Result<UniqueFd> make_shared_file(SharedKind kind, const IpcToken& token, std::uint64_t bytes);
/// Makes sure that nobody can resize the file any longer.
Status seal_shared_file(int fd);

/// Where the exporter's broker is to be found.
struct BrokerAddress {
  std::int32_t process = 0;
  std::uint64_t number = 0;  ///< 0: there is none

  friend constexpr bool operator==(const BrokerAddress&, const BrokerAddress&) = default;
};

/// What a counter-based event is, in a handle of one.
struct SharedEventPoint {
  std::uint64_t value = 0;  ///< that the counter in the file has to reach; 0: nothing is to be waited for
  std::uint8_t flags = 0;   ///< of the event, as its scopes; the API's numbers
  std::uint8_t signal_scope = 0;
  std::uint8_t wait_scope = 0;

  friend constexpr bool operator==(const SharedEventPoint&, const SharedEventPoint&) = default;
};

/// What stands behind the descriptor in a handle, and may be missing.
struct IpcHints {
  SharedFileIdentity file;       ///< but for `bytes`, which is not sent
  std::uint64_t size_bytes = 0;  ///< as the exporter allocated them; of a counter not sent
  BrokerAddress broker;
  PageRights rights{};       ///< of the exporter's boards; of device and host memory
  SharedEventPoint point{};  ///< of a counter

  friend constexpr bool operator==(const IpcHints&, const IpcHints&) = default;
};

struct IpcHandle {
  std::int32_t fd = -1;
  std::optional<IpcHints> hints;
};

using IpcHandleBytes = std::array<char, 64>;

[[nodiscard]] IpcHandleBytes encode(const IpcHandle& handle) noexcept;
/// invalid_argument: what is behind the descriptor is neither nothing nor hints of this version.
Result<IpcHandle> decode_ipc_handle(const IpcHandleBytes& bytes);
/// What stands in the token's place of bytes that say they are memory's, unchecked otherwise.
[[nodiscard]] std::optional<IpcToken> memory_token_in(const IpcHandleBytes& bytes) noexcept;
/// Whether `hints` speak of that very file.
[[nodiscard]] bool agree(const IpcHints& hints, const SharedFileIdentity& file) noexcept;

}  // namespace datum
