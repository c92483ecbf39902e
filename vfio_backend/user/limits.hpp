// How long the client waits for a server, with reasons.
#pragma once

#include <chrono>
#include <cstdint>

namespace datum::vfio_user::limits {

/// A server answers within milliseconds; RTL that shares a busy machine takes longer for a block of memory.
/// One that is silent for so long is stopped or hangs.
inline constexpr std::chrono::seconds answer{20};
/// A new board is built for each client, and the one before is taken down first.
inline constexpr std::chrono::seconds first_answer{60};
/// The server always reads; a socket that takes nothing for so long belongs to one that is stopped.
inline constexpr long send_seconds = 20;
/// Blocks are moved in pieces of this size, so that other accesses get between them.
inline constexpr std::uint32_t block_bytes = 64U << 10U;
/// Where the server does not say: as a simulation may be slow, and waits that end at once cost nothing.
inline constexpr unsigned unknown_wait_scale = 50;
/// Vectors of a function: an eventfd each.
inline constexpr std::uint32_t most_vectors = 2048;

}  // namespace datum::vfio_user::limits
