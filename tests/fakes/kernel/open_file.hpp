// What a descriptor of the fake kernel leads to.
#pragma once

#include <cerrno>
#include <cstddef>
#include <cstdint>
#include <memory>
#include <string>
#include <sys/types.h>

#include "tests/fakes/kernel/iommu_rules.hpp"
#include "tests/fakes/kernel/machine.hpp"

namespace datum::test {

/// Results are those of the system calls, with minus errno. Destroyed at the last close.
class OpenFile {
 public:
  virtual ~OpenFile() = default;

  virtual int ioctl(unsigned long, void*) { return -ENOTTY; }

  virtual ssize_t pread(void*, std::size_t, std::uint64_t) { return -EINVAL; }

  virtual ssize_t pwrite(const void*, std::size_t, std::uint64_t) { return -EINVAL; }

  virtual int mmap(std::uint64_t, std::size_t, int, void**) { return -ENODEV; }
};

/// Gives files their descriptors; the kernel itself.
class FileTable {
 public:
  /// Takes over `file`; the new descriptor, or minus errno.
  virtual int install(std::shared_ptr<OpenFile> file) = 0;
  /// What `fd` leads to; null if it is none of the fake kernel's.
  [[nodiscard]] virtual std::shared_ptr<OpenFile> look_up(int fd) const = 0;

 protected:
  ~FileTable() = default;
};

/// A regular file of /sys or /proc.
class TextFile final : public OpenFile {
 public:
  explicit TextFile(std::string text) : text_(std::move(text)) {}

  ssize_t pread(void* to, std::size_t bytes, std::uint64_t offset) override;

 private:
  std::string text_;
};

/// Files of the fake VFIO. Null: `path` is none of its nodes. `error` is minus errno when opening it fails.
[[nodiscard]] std::shared_ptr<OpenFile> open_vfio_node(Machine& machine, FileTable& table,
                                                       const std::string& path, int& error);

/// The address space that a file of /dev/iommu has by number; null: it has none, or is no such file.
[[nodiscard]] std::shared_ptr<IommuRules> iommufd_space(const std::shared_ptr<OpenFile>& file,
                                                        std::uint32_t id);
[[nodiscard]] bool is_iommufd(const std::shared_ptr<OpenFile>& file);
[[nodiscard]] std::shared_ptr<OpenFile> make_iommufd(Machine& machine);

/// The container's address space, once it has one.
class ContainerFile final : public OpenFile {
 public:
  explicit ContainerFile(Machine& machine) : machine_(machine) {}

  int ioctl(unsigned long request, void* argument) override;

  [[nodiscard]] const std::shared_ptr<IommuRules>& space() const { return space_; }

  unsigned groups = 0;

 private:
  int get_info(void* argument) const;

  Machine& machine_;
  std::shared_ptr<IommuRules> space_;
};

}  // namespace datum::test
