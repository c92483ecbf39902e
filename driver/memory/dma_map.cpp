#include "driver/memory/dma_map.hpp"

#include <cerrno>
#include <sys/resource.h>
#include <utility>

#include <fmt/format.h>

#include "driver/memory/host_limits.hpp"

namespace datum {
namespace {

/// The backend knows what was refused; this adds what the user can do where its limit, `limit_bytes`, is that
/// of the process.
Error explain(Error error, const std::string& board, std::uint64_t bytes, std::uint64_t limit_bytes) {
  if (error.code != ErrorCode::out_of_host_memory) {
    return error;
  }
  error.message = fmt::format("{} bytes of host memory cannot be made reachable for the board {}: {}", bytes,
                              board, error.message);
  if (error.hint.empty() && error.errno_value == ENOMEM && limit_bytes == 0) {
    return no_host_memory(std::move(error.message), ENOMEM);
  }
  rlimit limit{};
  if (error.hint.empty() && ::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur == limit_bytes) {
    error.hint = fmt::format("the process may lock {} bytes; raise RLIMIT_MEMLOCK (ulimit -l)",
                             std::uint64_t{limit.rlim_cur});
  }
  return error;
}

}  // namespace

Result<Iova> DmaMap::map(std::span<std::byte> host, board::DmaAccess access) {
  Result<Iova> iova = iovas_.take(host.size());
  return iova.ok() ? finish(*iova, host.size(), function_.dma_map(*iova, host, access)) : iova;
}

Result<Iova> DmaMap::map_file(std::span<std::byte> host, int file, board::DmaAccess access) {
  if (!function_.limits().can_import.memfd) {
    return map(host, access);
  }
  Result<Iova> iova = iovas_.take(host.size());
  return iova.ok() ? finish(*iova, host.size(), function_.dma_map_fd(*iova, file, 0, host.size(), access))
                   : iova;
}

Result<Iova> DmaMap::finish(Iova iova, std::uint64_t bytes, Status mapped) {
  if (!mapped.ok()) {
    iovas_.release(iova, bytes);
    return explain(std::move(mapped).error(), board_address(), bytes, function_.limits().max_locked_bytes);
  }
  return iova;
}

Result<Iova> DmaMap::map_descriptor(int fd, std::uint64_t bytes, board::DmaAccess access,
                                    std::uint64_t offset) {
  if (!function_.limits().can_import.memfd || !is_aligned(offset | bytes, granule_bytes())) {
    return make_error(
        ErrorCode::unsupported_feature,
        fmt::format("{} bytes of shared memory cannot be mapped for the board {}", bytes, board_address()));
  }
  Result<Iova> iova = iovas_.take(bytes);
  return iova.ok() ? finish(*iova, bytes, function_.dma_map_fd(*iova, fd, offset, bytes, access)) : iova;
}

void DmaMap::unmap(Iova iova, std::uint64_t bytes) noexcept {
  // What may still be mapped is handed out to nobody: its addresses are lost. A function that is gone
  // refuses, too, and no longer maps anything.
  if (function_.dma_unmap(iova, bytes).ok()) {
    iovas_.release(iova, bytes);
  }
}

}  // namespace datum
