#include "tests/fakes/kernel/fake_kernel.hpp"

#include <cerrno>
#include <cstring>
#include <fcntl.h>
#include <sys/eventfd.h>
#include <sys/mman.h>
#include <sys/stat.h>
#include <unistd.h>

#include <fmt/format.h>

namespace datum::test {

FakeKernel::FakeKernel() {
  machine.files.add_link("/proc/self", fmt::format("{}", ::getpid()));
  machine.files.add_folder(fmt::format("/proc/{}/fd", ::getpid()));
  machine.files.add_folder("/sys/bus/pci/drivers/vfio-pci");
}

FakeKernel::~FakeKernel() {
  for (const auto& [fd, file] : files_) {
    ::close(fd);
  }
}

Slot& FakeKernel::plug(const std::string& pci, unsigned group, std::shared_ptr<PciCard> card,
                       std::uint16_t vendor, std::uint16_t device) {
  auto slot = std::make_unique<Slot>();
  slot->pci = pci;
  slot->group = group;
  slot->node = fmt::format("vfio{}", machine.slots.size());
  slot->config = board_configuration(vendor, device, card->vectors());
  slot->card = std::move(card);
  add_to_sysfs(machine, pci, group, vendor, device, "vfio-pci");
  machine.files.add_folder(fmt::format("/sys/bus/pci/devices/{}/vfio-dev/{}", pci, slot->node));
  machine.slots.push_back(std::move(slot));
  return *machine.slots.back();
}

void FakeKernel::fail_call(unsigned nth, int error_number) {
  const std::lock_guard lock(mutex_);
  failing_call_ = calls_ + nth;
  call_error_ = error_number;
  failure_given_ = false;
}

void FakeKernel::fail_ioctl(unsigned long request, int error_number) {
  const std::lock_guard lock(mutex_);
  failing_ioctl_ = request;
  ioctl_error_ = error_number;
  failure_given_ = false;
}

bool FakeKernel::failure_given() const {
  const std::lock_guard lock(mutex_);
  return failure_given_;
}

void FakeKernel::signal(int fd) {
  const std::uint64_t one = 1;
  [[maybe_unused]] const ssize_t written = ::write(fd, &one, sizeof one);
}

std::size_t FakeKernel::open_descriptors() const {
  const std::lock_guard lock(mutex_);
  return files_.size() + eventfds_.size();
}

unsigned FakeKernel::calls() const {
  const std::lock_guard lock(mutex_);
  return calls_;
}

int FakeKernel::due_failure() {
  if (++calls_ != failing_call_) {
    return 0;
  }
  failure_given_ = true;
  return -call_error_;
}

int FakeKernel::install(std::shared_ptr<OpenFile> file) {
  const int fd = ::open("/dev/null", O_RDWR | O_CLOEXEC);
  if (fd < 0) {
    return -errno;
  }
  files_[fd] = std::move(file);
  return fd;
}

std::shared_ptr<OpenFile> FakeKernel::look_up(int fd) const {
  const auto found = files_.find(fd);
  return found == files_.end() ? nullptr : found->second;
}

int FakeKernel::open(const std::string& path, int) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int failure = due_failure(); failure != 0) {
    return failure;
  }
  if (machine.forbidden.contains(path)) {
    return -EACCES;
  }
  if (path == "/proc/self/status") {
    return install(std::make_shared<TextFile>(machine.traits.may_lock_anything
                                                  ? "Name:\tx\nCapEff:\t0000000000004000\n"
                                                  : "Name:\tx\nCapEff:\t0000000000000000\n"));
  }
  if (const auto text = machine.files.file(path)) {
    return install(std::make_shared<TextFile>(*text));
  }
  int error = 0;
  std::shared_ptr<OpenFile> node = open_vfio_node(machine, *this, path, error);
  return node == nullptr ? error : install(std::move(node));
}

void FakeKernel::close(int fd) noexcept {
  const std::lock_guard lock(mutex_);
  // The file outlives its entry: a device that closes looks others up.
  const std::shared_ptr<OpenFile> last = look_up(fd);
  if (files_.erase(fd) == 0 && eventfds_.erase(fd) == 0) {
    machine.complaints.push_back(fmt::format("descriptor {} was closed twice", fd));
    return;
  }
  ::close(fd);
}

void FakeKernel::hold_ioctl(unsigned long request) {
  const std::lock_guard lock(hold_mutex_);
  held_ioctl_ = request;
}

void FakeKernel::wait_until_held() {
  std::unique_lock lock(hold_mutex_);
  hold_changed_.wait(lock, [&] { return holding_; });
}

void FakeKernel::let_go() {
  const std::lock_guard lock(hold_mutex_);
  holding_ = false;
  hold_changed_.notify_all();
}

void FakeKernel::pause_if_held(unsigned long request) {
  std::unique_lock lock(hold_mutex_);
  if (held_ioctl_ != request) {
    return;
  }
  held_ioctl_.reset();
  holding_ = true;
  hold_changed_.notify_all();
  hold_changed_.wait(lock, [&] { return !holding_; });
}

int FakeKernel::ioctl(int fd, unsigned long request, void* argument) noexcept {
  pause_if_held(request);
  const std::lock_guard lock(mutex_);
  if (const int failure = due_failure(); failure != 0) {
    return failure;
  }
  if (failing_ioctl_ == request) {
    failing_ioctl_.reset();
    failure_given_ = true;
    return -ioctl_error_;
  }
  const std::shared_ptr<OpenFile> file = look_up(fd);
  return file == nullptr ? -ENOTTY : file->ioctl(request, argument);
}

int FakeKernel::mmap(int fd, std::uint64_t offset, std::size_t bytes, int protection, void** base) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int failure = due_failure(); failure != 0) {
    return failure;
  }
  int result = 0;
  if (const std::shared_ptr<OpenFile> file = look_up(fd)) {
    result = file->mmap(offset, bytes, protection, base);
  } else {
    void* const mapped = ::mmap(nullptr, bytes, protection, MAP_SHARED, fd, static_cast<off_t>(offset));
    result = mapped == MAP_FAILED ? -errno : 0;
    *base = mapped;
  }
  machine.live_mappings += result == 0 ? 1U : 0U;
  return result;
}

void FakeKernel::munmap(void* base, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  ::munmap(base, bytes);
  --machine.live_mappings;
}

int FakeKernel::cover(void* base, std::size_t bytes) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int failure = due_failure(); failure != 0) {
    return failure;
  }
  if (::mmap(base, bytes, PROT_READ | PROT_WRITE, MAP_PRIVATE | MAP_ANONYMOUS | MAP_FIXED, -1, 0) != base) {
    return -errno;
  }
  std::memset(base, 0xff, bytes);
  return 0;
}

int FakeKernel::hollow(int fd) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int failure = due_failure(); failure != 0) {
    return failure;
  }
  const std::shared_ptr<OpenFile> last = look_up(fd);
  if (last == nullptr) {
    return -EBADF;
  }
  files_[fd] = std::make_shared<OpenFile>();
  return 0;
}

ssize_t FakeKernel::pread(int fd, void* to, std::size_t bytes, std::uint64_t offset) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int failure = due_failure(); failure != 0) {
    return failure;
  }
  const std::shared_ptr<OpenFile> file = look_up(fd);
  return file == nullptr ? -EBADF : file->pread(to, bytes, offset);
}

ssize_t FakeKernel::pwrite(int fd, const void* from, std::size_t bytes, std::uint64_t offset) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int failure = due_failure(); failure != 0) {
    return failure;
  }
  const std::shared_ptr<OpenFile> file = look_up(fd);
  return file == nullptr ? -EBADF : file->pwrite(from, bytes, offset);
}

ssize_t FakeKernel::read(int fd, void* to, std::size_t bytes) noexcept {
  const ssize_t got = ::read(fd, to, bytes);
  return got >= 0 ? got : -errno;
}

int FakeKernel::eventfd() noexcept {
  const std::lock_guard lock(mutex_);
  if (const int failure = due_failure(); failure != 0) {
    return failure;
  }
  const int fd = ::eventfd(0, EFD_NONBLOCK | EFD_CLOEXEC);
  if (fd < 0) {
    return -errno;
  }
  eventfds_.insert(fd);
  return fd;
}

int FakeKernel::poll(pollfd* entries, unsigned count, const timespec* timeout) noexcept {
  {
    const std::lock_guard lock(mutex_);
    if (const int failure = due_failure(); failure != 0) {
      return failure;
    }
  }
  const int ready = ::ppoll(entries, count, timeout, nullptr);
  return ready >= 0 ? ready : -errno;
}

int FakeKernel::file_bytes(int fd, std::uint64_t* bytes) noexcept {
  struct stat status {};

  if (::fstat(fd, &status) != 0) {
    return -errno;
  }
  *bytes = static_cast<std::uint64_t>(status.st_size);
  return 0;
}

int FakeKernel::read_link(const std::string& path, std::string* target) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int failure = due_failure(); failure != 0) {
    return failure;
  }
  const auto link = machine.files.link(path);
  if (!link) {
    return -ENOENT;
  }
  *target = *link;
  return 0;
}

int FakeKernel::list_folder(const std::string& path, std::vector<std::string>* names) noexcept {
  const std::lock_guard lock(mutex_);
  if (const int failure = due_failure(); failure != 0) {
    return failure;
  }
  // Nodes of their own exist on newer kernels only.
  const auto list =
      !machine.traits.own_nodes && path.ends_with("/vfio-dev") ? std::nullopt : machine.files.list(path);
  if (!list) {
    return -ENOENT;
  }
  *names = *list;
  return 0;
}

int FakeKernel::limit(int resource, rlimit* value) noexcept {
  if (resource != RLIMIT_MEMLOCK) {
    return ::getrlimit(static_cast<__rlimit_resource_t>(resource), value) == 0 ? 0 : -errno;
  }
  *value = {machine.traits.memlock_bytes, machine.traits.memlock_bytes};
  return 0;
}

}  // namespace datum::test
