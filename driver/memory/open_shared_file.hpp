// From a handle to the file that it means.
#pragma once

#include <cstdint>

#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>

#include "driver/memory/dma_buf.hpp"
#include "driver/memory/exported_file.hpp"
#include "driver/memory/ipc_handle.hpp"

namespace datum {

struct OpenedFile {
  UniqueFd fd;  ///< a descriptor of our own
  SharedFileIdentity identity;
  std::uint64_t size_bytes = 0;  ///< as the exporter said, else all of the file
  PageRights rights{};           ///< as the exporter said, else the usual ones
};

/// The descriptor in the handle counts only if it is of a shared file and agrees with the hints, or if there
/// are no hints; else the exporter's broker is asked, and what it sends must agree. invalid_argument: forged,
/// stale or foreign; not_available: the exporter does not answer.
Result<OpenedFile> open_shared_file(const IpcHandle& handle);

/// A descriptor that the application names, which stays the application's: of memory that Datum shares, of
/// that kind; as host memory also of a memory file of somebody else's that nobody can cut short; or a
/// dma-buf, which may be either kind. It is of one of `types`, holds `bytes` at least and may be written.
/// invalid_argument: it is not so.
Result<OpenedFile> open_external_file(int fd, ExternalTypes types, SharedKind kind, std::uint64_t bytes,
                                      const DmaBufs& dma_bufs);

/// Whether the descriptor in the handle is in this process what the handle means.
[[nodiscard]] bool holds_its_descriptor(const IpcHandle& handle);

}  // namespace datum
