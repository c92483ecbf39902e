#include "driver/memory/exported_file.hpp"

#include <algorithm>
#include <array>
#include <cerrno>
#include <fcntl.h>
#include <sys/stat.h>
#include <unistd.h>

#include <datum/base/address.hpp>
#include <datum/base/private_fd.hpp>

#include "driver/memory/dma_buf.hpp"
#include "driver/memory/host_limits.hpp"

namespace datum {
namespace {

Error no_descriptor() {
  return no_host_memory(
      "no descriptor to be had for memory that is exported, which needs two for each of its types", errno);
}

}  // namespace

ShownDescriptor::ShownDescriptor(UniqueFd fd) noexcept : fd_(std::move(fd)) {
  struct stat status {};

  if (::fstat(fd_.get(), &status) == 0) {
    file_system_ = status.st_dev;
    inode_ = status.st_ino;
  }
}

ShownDescriptor& ShownDescriptor::operator=(ShownDescriptor&& other) noexcept {
  if (this != &other) {
    let_go();
    fd_ = std::move(other.fd_);
    spare_ = std::move(other.spare_);
    file_system_ = other.file_system_;
    inode_ = other.inode_;
  }
  return *this;
}

ShownDescriptor::~ShownDescriptor() { let_go(); }

void ShownDescriptor::let_go() noexcept {
  if (!is_named_by(fd_.get())) {
    // The application closed it, and the number may be somebody else's by now.
    static_cast<void>(fd_.release());
  }
}

bool ShownDescriptor::is_named_by(int fd) const noexcept {
  struct stat status {};

  return fd >= 0 && ::fstat(fd, &status) == 0 && status.st_dev == file_system_ && status.st_ino == inode_;
}

Status ShownDescriptor::keep_spare() {
  spare_.reset(duplicate_fd(fd_.get()));
  return is_named_by(spare_.get()) ? Status{} : no_descriptor();
}

Status ShownDescriptor::renew() {
  if (is_named_by(fd_.get())) {
    return {};
  }
  UniqueFd again(duplicate_fd(spare_.get()));
  if (!again.valid()) {
    return no_descriptor();
  }
  static_cast<void>(fd_.release());  // the application closed it
  fd_ = std::move(again);
  return {};
}

Result<UniqueFd> ShownDescriptor::duplicate() const {
  const bool ours = is_named_by(fd_.get());
  UniqueFd copy(duplicate_fd(ours ? fd_.get() : spare_.get()));
  if (!is_named_by(copy.get())) {
    return make_error(ErrorCode::invalid_argument, "the descriptor of the exported memory was closed");
  }
  return copy;
}

void ExportedFile::clear_tail() const noexcept {
  const std::array<char, small_page_bytes> zeroes{};
  for (std::uint64_t at = size_bytes_; at < identity_.bytes;) {
    const std::uint64_t part = std::min<std::uint64_t>(zeroes.size(), identity_.bytes - at);
    const ssize_t done = ::pwrite(file_.get(), zeroes.data(), part, static_cast<off_t>(at));
    if (done <= 0) {
      return;  // a file of memory takes it, unless the system has none left
    }
    at += static_cast<std::uint64_t>(done);
  }
}

Status ExportedFile::offer(ExternalTypes types, DmaBufs& dma_bufs) {
  // Also where only a dma-buf is offered: handles of memory made for export outlive a descriptor that is
  // closed.
  if (Status kept = file_.keep_spare(); !kept.ok()) {
    return kept;
  }
  if (types.dma_buf) {
    Result<UniqueFd> made = dma_bufs.make(file_.get(), identity_.bytes);
    if (!made.ok()) {
      return std::move(made).error();
    }
    dma_buf_ = ShownDescriptor(std::move(*made));
    if (Status kept = dma_buf_.keep_spare(); !kept.ok()) {
      return kept;
    }
  }
  offered_ = types;
  return {};
}

Result<int> ExportedFile::descriptor(ExternalType type) {
  if (!offered_.has(type)) {
    return make_error(ErrorCode::invalid_argument,
                      "a descriptor is asked for of a type for which the memory was not made");
  }
  ShownDescriptor& shown = type == ExternalType::opaque ? file_ : dma_buf_;
  if (Status renewed = shown.renew(); !renewed.ok()) {
    return std::move(renewed).error();
  }
  return shown.get();
}

}  // namespace datum
