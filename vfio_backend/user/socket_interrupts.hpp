// MSI-X vectors of a served board as eventfds.
#pragma once

#include <cstdint>
#include <vector>

#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>
#include <datum/board/pcie_function.hpp>

#include "vfio_backend/interrupt_wait.hpp"
#include "vfio_backend/user/channel.hpp"

namespace datum::vfio_user {

/// Safe from any thread.
class SocketInterrupts {
 public:
  /// Hands an eventfd for each vector, and one for the board's loss, to the server. unsupported_feature: the
  /// board has no MSI-X; out_of_host_memory: no descriptor left; device_lost. `channel` outlives the object;
  /// `descriptors_at_once` is what the server takes in one message.
  static Result<SocketInterrupts> set_up(Channel& channel, std::uint32_t descriptors_at_once);

  [[nodiscard]] unsigned vectors() const noexcept { return static_cast<unsigned>(vectors_.size()); }

  /// `vector` < vectors().
  [[nodiscard]] int descriptor(unsigned vector) const noexcept { return vectors_[vector].get(); }

  /// Sleeps until `vector` (or any_vector) is raised, the board or its server is lost (`notice`), `wake_fd`
  /// is readable or `timeout_ns` is over; no_deadline: no bound. Consumes the interrupt, nothing else. A
  /// signal ends it early with `nothing`.
  Result<vfio::Seen> wait(unsigned vector, int wake_fd, std::uint64_t timeout_ns);

  /// The server said that the board is lost. Stays so until `clear`.
  [[nodiscard]] bool board_lost() const noexcept;
  /// Forgets interrupts and losses, as after a reset.
  void clear() noexcept;

 private:
  explicit SocketInterrupts(Channel& channel) : channel_(&channel) {}

  Status make_vectors(std::uint32_t count);
  Status hand_over(std::uint32_t index, std::uint32_t start, std::span<const int> descriptors);
  bool consume(unsigned vector);

  Channel* channel_;
  std::vector<UniqueFd> vectors_;
  UniqueFd error_event_;
};

}  // namespace datum::vfio_user
