#include "driver/memory/open_shared_file.hpp"

#include <fcntl.h>
#include <utility>

#include "driver/memory/ipc_broker.hpp"

namespace datum {
namespace {

/// A descriptor of our own first: the application may close its one at any moment.
Result<OpenedFile> open_descriptor(const IpcHandle& handle) {
  OpenedFile opened;
  opened.fd.reset(handle.fd < 0 ? -1 : ::fcntl(handle.fd, F_DUPFD_CLOEXEC, 0));
  Result<SharedFileIdentity> identity = identify_shared_file(opened.fd.get());
  if (!identity.ok()) {
    return std::move(identity).error();
  }
  opened.identity = *identity;
  opened.size_bytes = handle.hints ? handle.hints->size_bytes : identity->bytes;
  if (handle.hints && !agree(*handle.hints, *identity)) {
    return make_error(ErrorCode::invalid_argument, "the descriptor in the handle is of other memory");
  }
  return opened;
}

}  // namespace

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
