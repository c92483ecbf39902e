#include "driver/memory/open_shared_file.hpp"

#include <fcntl.h>
#include <linux/magic.h>
#include <sys/stat.h>
#include <sys/vfs.h>
#include <utility>

#include <fmt/format.h>

#include <datum/base/address.hpp>
#include <datum/base/private_fd.hpp>

#include "driver/memory/ipc_broker.hpp"

namespace datum {
namespace {

/// A descriptor of our own first: the application may close its one at any moment.
Result<OpenedFile> open_descriptor(const IpcHandle& handle) {
  OpenedFile opened;
  opened.fd.reset(handle.fd < 0 ? -1 : duplicate_fd(handle.fd));
  Result<SharedFileIdentity> identity = identify_shared_file(opened.fd.get());
  if (!identity.ok()) {
    return std::move(identity).error();
  }
  opened.identity = *identity;
  opened.size_bytes = handle.hints ? handle.hints->size_bytes : identity->bytes;
  opened.rights = handle.hints ? handle.hints->rights : PageRights{};
  if (handle.hints && !agree(*handle.hints, *identity)) {
    return make_error(ErrorCode::invalid_argument, "the descriptor in the handle is of other memory");
  }
  return opened;
}

/// Seals that would keep us from writing.
constexpr int write_seals = F_SEAL_WRITE | 0x10;  // F_SEAL_FUTURE_WRITE, which not all headers have

Error refuse_external(int fd, std::string_view why) {
  return make_error(ErrorCode::invalid_argument,
                    fmt::format("descriptor {} cannot be imported: {}", fd, why));
}

/// A memory file of small pages that somebody else made. A file that can be cut short would end who touches
/// the missing part; one of a file system with a limit, or of huge pages, who finds no page left.
Result<SharedFileIdentity> identify_foreign_file(int fd) {
  const int seals = ::fcntl(fd, F_GET_SEALS);

  struct stat status {};

  struct statfs system {};

  if (seals < 0 || ::fstat(fd, &status) != 0 || ::fstatfs(fd, &system) != 0 || system.f_type != TMPFS_MAGIC) {
    return refuse_external(fd, "it is no memory file (memfd_create)");
  }
  if ((seals & F_SEAL_SHRINK) == 0) {
    return refuse_external(fd, "it may be cut short while it is used; seal it with F_SEAL_SHRINK");
  }
  SharedFileIdentity identity;
  identity.kind = SharedKind::host;
  identity.bytes = align_down(static_cast<std::uint64_t>(status.st_size), small_page_bytes);
  identity.file_system = status.st_dev;
  identity.inode = status.st_ino;
  return identity;
}

Result<SharedFileIdentity> identify_memory_file(int fd, SharedKind kind) {
  Result<SharedFileIdentity> identity = identify_shared_file(fd);
  if (!identity.ok() && kind == SharedKind::host) {
    identity = identify_foreign_file(fd);
  }
  if (!identity.ok()) {
    return refuse_external(fd, identity.error().message);
  }
  if (identity->kind != kind) {
    const bool other = identity->kind == SharedKind::device || identity->kind == SharedKind::host;
    return refuse_external(fd, !other                     ? "it is of no one memory"
                               : kind == SharedKind::host ? "it is of device memory"
                                                          : "it is of host memory");
  }
  if ((::fcntl(fd, F_GET_SEALS) & write_seals) != 0) {
    return refuse_external(fd, "it may not be written");
  }
  return identity;
}

/// Its maker cannot change its length, and it says nothing about what memory it is.
SharedFileIdentity identify_dma_buf(std::uint64_t bytes, SharedKind kind) {
  SharedFileIdentity identity;
  identity.kind = kind;
  identity.bytes = align_down(bytes, small_page_bytes);
  return identity;
}

}  // namespace

Result<OpenedFile> open_external_file(int fd, ExternalTypes types, SharedKind kind, std::uint64_t bytes,
                                      const DmaBufs& dma_bufs) {
  OpenedFile opened;
  opened.fd.reset(fd < 0 ? -1 : duplicate_fd(fd));
  if (!opened.fd.valid()) {
    return refuse_external(fd, "it is not open");
  }
  const std::uint64_t dma_buf = types.dma_buf ? dma_bufs.bytes_of(opened.fd.get()) : 0;
  if (dma_buf == 0 && !types.opaque) {
    return refuse_external(fd, "it is no dma-buf");
  }
  Result<SharedFileIdentity> identity =
      dma_buf != 0 ? Result(identify_dma_buf(dma_buf, kind)) : identify_memory_file(opened.fd.get(), kind);
  if (!identity.ok()) {
    return std::move(identity).error();
  }
  if (identity->bytes < bytes) {
    return refuse_external(
        fd, fmt::format("it holds {} bytes in whole pages, and {} are wanted", identity->bytes, bytes));
  }
  if ((::fcntl(opened.fd.get(), F_GETFL) & O_ACCMODE) != O_RDWR) {
    return refuse_external(fd, "it may not be written");
  }
  opened.identity = *identity;
  opened.size_bytes = bytes;
  return opened;
}

Result<OpenedFile> open_shared_file(const IpcHandle& handle) {
  Result<OpenedFile> direct = open_descriptor(handle);
  if (direct.ok() || !handle.hints) {
    return direct;
  }
  Result<UniqueFd> sent = ask_ipc_broker(handle.hints->broker, handle.hints->file.token);
  if (!sent.ok()) {
    return std::move(sent).error();
  }
  return open_descriptor({sent->get(), handle.hints});
}

bool holds_its_descriptor(const IpcHandle& handle) {
  const Result<SharedFileIdentity> identity = identify_shared_file(handle.fd);
  return identity.ok() && (!handle.hints || agree(*handle.hints, *identity));
}

}  // namespace datum
