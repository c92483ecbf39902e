// The file of an exported allocation, and the descriptors of it that the application sees.
#pragma once

#include <cstdint>
#include <utility>

#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>

#include "driver/memory/ipc_handle.hpp"

namespace datum {

class DmaBufs;

/// As what external memory goes out of the process and comes into it.
enum class ExternalType : std::uint8_t {
  opaque,  ///< a memory file
  dma_buf
};

struct ExternalTypes {
  bool opaque = false;
  bool dma_buf = false;

  [[nodiscard]] bool has(ExternalType type) const noexcept {
    return type == ExternalType::opaque ? opaque : dma_buf;
  }

  [[nodiscard]] bool any() const noexcept { return opaque || dma_buf; }
};

/// A descriptor whose number the application sees: it is closed only while it still stands for its file,
/// since many who get one close it. With a spare, which nobody sees, it can be had again then.
class ShownDescriptor {
 public:
  ShownDescriptor() noexcept = default;
  explicit ShownDescriptor(UniqueFd fd) noexcept;
  ShownDescriptor(ShownDescriptor&&) noexcept = default;
  ShownDescriptor& operator=(ShownDescriptor&& other) noexcept;
  ShownDescriptor(const ShownDescriptor&) = delete;
  ShownDescriptor& operator=(const ShownDescriptor&) = delete;
  ~ShownDescriptor();

  [[nodiscard]] int get() const noexcept { return fd_.get(); }

  /// Takes the spare. out_of_host_memory.
  Status keep_spare();

  [[nodiscard]] bool has_spare() const noexcept { return spare_.valid(); }

  /// Makes get() valid where the application closed it. Needs the spare. out_of_host_memory.
  Status renew();

  /// A descriptor of its own of the same file. invalid_argument: the application closed ours, and there is no
  /// other.
  [[nodiscard]] Result<UniqueFd> duplicate() const;

  /// Whether `fd` is of the same file.
  [[nodiscard]] bool is_named_by(int fd) const noexcept;

 private:
  void let_go() noexcept;

  UniqueFd fd_;
  UniqueFd spare_;
  std::uint64_t file_system_ = 0;
  std::uint64_t inode_ = 0;
};

/// The file that holds an allocation from its first byte on.
class ExportedFile {
 public:
  ExportedFile(UniqueFd file, const SharedFileIdentity& identity, std::uint64_t size_bytes) noexcept
      : file_(std::move(file)), identity_(identity), size_bytes_(size_bytes) {}

  ExportedFile(const ExportedFile&) = delete;
  ExportedFile& operator=(const ExportedFile&) = delete;
  ~ExportedFile() = default;

  [[nodiscard]] int fd() const noexcept { return file_.get(); }

  [[nodiscard]] const SharedFileIdentity& identity() const noexcept { return identity_; }

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }  ///< as allocated

  /// What boards of the exporter may do with the memory, for whoever opens a handle.
  void set_rights(PageRights rights) noexcept { rights_ = rights; }

  [[nodiscard]] PageRights rights() const noexcept { return rights_; }

  /// Zeroes what the file holds behind the allocation's last byte. Nobody else has the file yet.
  void clear_tail() const noexcept;

  /// The application may ask for descriptors of these types from now on. Once. out_of_host_memory, and
  /// DmaBufs::make.
  Status offer(ExternalTypes types, DmaBufs& dma_bufs);

  [[nodiscard]] bool is_offered() const noexcept { return offered_.any(); }

  /// The same at each call unless the application closed it. invalid_argument: it is not offered.
  Result<int> descriptor(ExternalType type);

  /// Whether `fd` is of the dma-buf that is offered.
  [[nodiscard]] bool has_dma_buf(int fd) const noexcept {
    return offered_.dma_buf && dma_buf_.is_named_by(fd);
  }

  /// A descriptor of its own of the file. invalid_argument: the application closed ours, and there is no
  /// other.
  [[nodiscard]] Result<UniqueFd> duplicate() const { return file_.duplicate(); }

 private:
  ShownDescriptor file_;
  ShownDescriptor dma_buf_;
  ExternalTypes offered_;
  SharedFileIdentity identity_;
  std::uint64_t size_bytes_;
  PageRights rights_{};
};

}  // namespace datum
