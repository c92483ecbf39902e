// Hands descriptors of exported memory to other processes of the same user, for those who send the 64 bytes
// of a handle by value.
#pragma once

#include <functional>
#include <memory>

#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>

#include "driver/memory/ipc_handle.hpp"

namespace datum {

/// A thread that answers on a socket of the abstract name space, whose name nobody can guess. It serves peers
/// of the same user only, and waits for none of them: one that asks nothing is dropped after a bounded time.
/// A forked child neither answers nor keeps the socket.
class IpcBroker {
 public:
  /// A new descriptor of the file with that token; an error: there is none. Called on the broker's thread.
  using Find = std::function<Result<UniqueFd>(const IpcToken&)>;

  static Result<std::unique_ptr<IpcBroker>> start(Find find);
  /// Ends the thread.
  ~IpcBroker();
  IpcBroker(const IpcBroker&) = delete;
  IpcBroker& operator=(const IpcBroker&) = delete;

  [[nodiscard]] BrokerAddress address() const noexcept;

 private:
  IpcBroker();
  struct Impl;
  std::unique_ptr<Impl> impl_;
};

/// Asks the broker of another process, or of this one. The caller judges the descriptor.
/// invalid_argument: nobody is there, it is not of this user, or it does not know the token; not_available:
/// no answer within limits::ipc_answer_ns.
Result<UniqueFd> ask_ipc_broker(const BrokerAddress& address, const IpcToken& token);

}  // namespace datum
