// What the two ends of a connection tell each other in VERSION.
#pragma once

#include <cstddef>
#include <cstdint>
#include <optional>
#include <span>
#include <string>
#include <vector>

#include <datum/base/result.hpp>

#include "vfio_user/messages.hpp"

namespace datum::vfio_user {

inline constexpr std::uint16_t protocol_major = 0;
inline constexpr std::uint16_t protocol_minor = 0;

/// What a server of this project says beyond the protocol, to clients that announce that they want it.
struct BoardCapabilities {
  std::string name;                    ///< for people
  unsigned wait_scale = 1;             ///< board::Clock
  unsigned iova_bits = 39;             ///< width of addresses that a client should hand out
  std::uint64_t max_locked_bytes = 0;  ///< that a client should map at once; 0: no limit
};

/// Defaults are those of the protocol, for what a peer does not say.
struct Capabilities {
  std::uint32_t max_descriptors = 1;  ///< of one message that it receives
  std::uint32_t max_data_bytes = 1U << 20U;
  std::uint64_t max_mappings = 65535;
  std::uint64_t page_sizes = 4096;         ///< of dma_map, a bit each
  std::optional<BoardCapabilities> board;  ///< "datum"
};

/// The body of a VERSION message, command and reply alike.
[[nodiscard]] std::vector<std::byte> encode_version(const Capabilities& capabilities);

/// invalid_argument: too short, text without its final NUL or no JSON object, values of the wrong type or out
/// of range; unsupported_version: another major version. Keys that are unknown are passed over.
[[nodiscard]] Result<Capabilities> decode_version(std::span<const std::byte> body);

}  // namespace datum::vfio_user
