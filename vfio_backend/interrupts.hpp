// MSI-X vectors and the kernel's two notices as eventfds.
#pragma once

#include <cstdint>
#include <span>
#include <string>
#include <vector>

#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

#include "vfio_backend/interrupt_wait.hpp"
#include "vfio_backend/sysfs.hpp"

namespace datum::vfio {

/// What the kernel has said. A notice stays until `clear`, so that every thread that waits sees it.
struct KernelNotice {
  bool error = false;  ///< the card reported an uncorrectable error (PCIe AER)
  bool request =
      false;  ///< the kernel wants the card back: its driver is being unbound, or it is being removed
};

/// All vectors are set up at once: older kernels cannot add one without dropping those there are. Safe from
/// any thread.
class Interrupts {
 public:
  /// Errors: unsupported_feature: the card has no MSI-X; out_of_host_memory: no descriptors or vectors left;
  /// unknown.
  static Result<Interrupts> set_up(Syscalls& syscalls, const PciDevice& device, int device_fd);
  Interrupts(Interrupts&& other) noexcept;
  Interrupts& operator=(Interrupts&&) = delete;
  Interrupts(const Interrupts&) = delete;
  Interrupts& operator=(const Interrupts&) = delete;
  /// disconnect(), then closes the descriptors.
  ~Interrupts();
  /// Takes vectors and notices from the kernel. What was raised stays to be seen.
  void disconnect() noexcept;

  [[nodiscard]] unsigned vectors() const noexcept { return static_cast<unsigned>(vectors_.size()); }

  /// `vector` < vectors().
  [[nodiscard]] int descriptor(unsigned vector) const noexcept { return vectors_[vector].get(); }

  /// Sleeps until `vector` (or any_vector) is raised, the kernel has a notice, `wake_fd` is readable or
  /// `timeout_ns` is over, and says which, the first of these that holds. Consumes the interrupt, nothing
  /// else. no_deadline: no bound. A signal ends it early with `nothing`.
  Result<Seen> wait(unsigned vector, int wake_fd, std::uint64_t timeout_ns);

  [[nodiscard]] KernelNotice notice() noexcept;
  /// Forgets what was raised and not consumed, and a notice of an error. A request of the kernel stays.
  void clear() noexcept;

 private:
  Interrupts(Syscalls& syscalls, const PciDevice& device, int device_fd);
  Status enable_vectors();
  void enable_notice(unsigned index, OwnedFd& fd);
  Result<OwnedFd> make_eventfd();
  bool consume(int fd) noexcept;
  [[nodiscard]] std::vector<pollfd> entries_for(unsigned vector, int wake_fd) const;

  Syscalls& syscalls_;
  PciDevice device_;
  int device_fd_;  // -1: moved from
  std::vector<OwnedFd> vectors_;
  OwnedFd error_;
  OwnedFd request_;
};

}  // namespace datum::vfio
