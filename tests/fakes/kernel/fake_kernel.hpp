// A kernel for tests of vfio_backend: it has state, keeps VFIO's rules, and fails where a test asks it to.
#pragma once

#include <condition_variable>
#include <map>
#include <memory>
#include <mutex>
#include <optional>
#include <set>
#include <string>

#include "tests/fakes/kernel/machine.hpp"
#include "tests/fakes/kernel/open_file.hpp"
#include "vfio_backend/syscalls.hpp"

namespace datum::test {

/// Descriptors are real ones, so that they never collide with the test's own; poll, read and eventfd are the
/// real calls. One lock serialises the calls that have state; the card is called under it.
class FakeKernel final : public vfio::Syscalls, private FileTable {
 public:
  FakeKernel();
  ~FakeKernel();
  FakeKernel(const FakeKernel&) = delete;
  FakeKernel& operator=(const FakeKernel&) = delete;

  /// Puts `card` into the slot `pci`, bound to vfio-pci, in an IOMMU group and with a node of its own.
  Slot& plug(const std::string& pci, unsigned group, std::shared_ptr<PciCard> card,
             std::uint16_t vendor = 0x1234, std::uint16_t device = 0xda70);

  /// State of the machine; a test changes it between calls.
  Machine machine;

  /// The call number `nth` from now on (1: the next one) fails with `error_number`. Calls that free something
  /// never fail and do not count.
  void fail_call(unsigned nth, int error_number);
  /// The next ioctl `request` fails with `error_number`.
  void fail_ioctl(unsigned long request, int error_number);
  /// The next ioctl `request` takes until let_go, without holding up other calls.
  void hold_ioctl(unsigned long request);
  /// Returns when that ioctl is under way.
  void wait_until_held();
  void let_go();
  /// Whether the failure that was asked for has been given.
  [[nodiscard]] bool failure_given() const;

  /// Raises an eventfd of the kernel's: Slot::error_fd, Slot::request_fd.
  static void signal(int fd);

  [[nodiscard]] std::size_t open_descriptors() const;
  [[nodiscard]] unsigned calls() const;

  int open(const std::string& path, int flags) noexcept override;
  void close(int fd) noexcept override;
  int ioctl(int fd, unsigned long request, void* argument) noexcept override;
  int mmap(int fd, std::uint64_t offset, std::size_t bytes, int protection, void** base) noexcept override;
  void munmap(void* base, std::size_t bytes) noexcept override;
  int cover(void* base, std::size_t bytes) noexcept override;
  int hollow(int fd) noexcept override;
  ssize_t pread(int fd, void* to, std::size_t bytes, std::uint64_t offset) noexcept override;
  ssize_t pwrite(int fd, const void* from, std::size_t bytes, std::uint64_t offset) noexcept override;
  ssize_t read(int fd, void* to, std::size_t bytes) noexcept override;
  int eventfd() noexcept override;
  int poll(pollfd* entries, unsigned count, const timespec* timeout) noexcept override;
  int file_bytes(int fd, std::uint64_t* bytes) noexcept override;
  int read_link(const std::string& path, std::string* target) noexcept override;
  int list_folder(const std::string& path, std::vector<std::string>* names) noexcept override;
  int limit(int resource, rlimit* value) noexcept override;

 private:
  int install(std::shared_ptr<OpenFile> file) override;
  [[nodiscard]] std::shared_ptr<OpenFile> look_up(int fd) const override;
  void pause_if_held(unsigned long request);
  /// Counts a call. What it must fail with (minus errno), or 0.
  int due_failure();

  mutable std::recursive_mutex mutex_;
  std::map<int, std::shared_ptr<OpenFile>> files_;
  std::set<int> eventfds_;
  unsigned calls_ = 0;
  unsigned failing_call_ = 0;
  int call_error_ = 0;
  std::optional<unsigned long> failing_ioctl_;
  int ioctl_error_ = 0;
  bool failure_given_ = false;
  std::mutex hold_mutex_;
  std::condition_variable hold_changed_;
  std::optional<unsigned long> held_ioctl_;  // that is to be held when it comes
  bool holding_ = false;
};

}  // namespace datum::test
