// The file behind an IPC handle of several physical memory objects: which part of which file stands where.
#pragma once

#include <cstdint>
#include <span>

#include <datum/base/address.hpp>
#include <datum/base/mapping.hpp>
#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>

#include "driver/memory/ipc_handle.hpp"

namespace datum {

/// Bytes of one shared file, in whole pages.
struct SharedPart {
  SharedFileIdentity file;
  std::uint64_t offset = 0;
  std::uint64_t bytes = 0;
};

/// A list of parts that stand side by side. It is written once and nobody can change it; whoever got it from
/// another process judges each part by the file that the exporter's broker hands out for it, since what the
/// list says of a file is the word of whoever wrote it.
class SharedRange {
 public:
  /// A file that lists `parts`, the whole pages of `size_bytes` which begin with byte `first_byte` of the
  /// first one. out_of_host_memory.
  static Result<UniqueFd> write(const IpcToken& token, std::uint64_t size_bytes, const BrokerAddress& broker,
                                std::span<const SharedPart> parts, std::uint64_t first_byte = 0);
  /// Reads such a file, which may be closed afterwards. invalid_argument: it is no list of parts that make up
  /// its size, or is of another version.
  static Result<SharedRange> read(int fd, const SharedFileIdentity& file);

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return size_bytes_; }  ///< as exported

  /// Where in the first page they begin.
  [[nodiscard]] std::uint64_t first_byte() const noexcept { return first_byte_; }

  /// Of all parts.
  [[nodiscard]] std::uint64_t span_bytes() const noexcept {
    return align_up(first_byte_ + size_bytes_, small_page_bytes);
  }

  [[nodiscard]] const BrokerAddress& broker() const noexcept { return broker_; }

  [[nodiscard]] std::uint64_t part_count() const noexcept { return part_count_; }

  [[nodiscard]] SharedPart part(std::uint64_t index) const noexcept;

 private:
  SharedRange() = default;
  [[nodiscard]] Status check_parts() const;

  Mapping list_;
  std::uint64_t size_bytes_ = 0;
  std::uint64_t first_byte_ = 0;
  BrokerAddress broker_;
  std::uint64_t part_count_ = 0;
};

}  // namespace datum
