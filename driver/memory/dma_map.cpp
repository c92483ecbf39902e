#include "driver/memory/dma_map.hpp"

#include <sys/resource.h>

#include <fmt/format.h>

namespace datum {
namespace {

/// The backend knows what was refused; this adds what the user can do about the usual reason.
Error explain(Error error, const std::string& board, std::uint64_t bytes) {
  if (error.code != ErrorCode::out_of_host_memory) {
    return error;
  }
  error.message = fmt::format("{} bytes of host memory cannot be made reachable for the board {}: {}", bytes,
                              board, error.message);
  rlimit limit{};
  if (error.hint.empty() && ::getrlimit(RLIMIT_MEMLOCK, &limit) == 0 && limit.rlim_cur != RLIM_INFINITY) {
    error.hint = fmt::format("the process may lock {} bytes; raise RLIMIT_MEMLOCK (ulimit -l)",
                             std::uint64_t{limit.rlim_cur});
  }
  return error;
}

}  // namespace

Result<Iova> DmaMap::map(std::span<std::byte> host, board::DmaAccess access, int fd) {
  Result<Iova> iova = iovas_.take(host.size());
  if (!iova.ok()) {
    return iova;
  }
  const bool by_descriptor = fd >= 0 && function_.limits().prefers_descriptors;
  Status mapped = by_descriptor ? function_.dma_map_fd(*iova, fd, 0, host.size(), access)
                                : function_.dma_map(*iova, host, access);
  if (!mapped.ok()) {
    iovas_.release(*iova, host.size());
    return explain(std::move(mapped).error(), board_address(), host.size());
  }
  return iova;
}

void DmaMap::unmap(Iova iova, std::uint64_t bytes) noexcept {
  // Refused only by a function that is gone, and then nothing is mapped any longer either.
  static_cast<void>(function_.dma_unmap(iova, bytes));
  iovas_.release(iova, bytes);
}

}  // namespace datum
