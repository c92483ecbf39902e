// A range of host memory that the board may reach.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <span>

#include <datum/base/mapping.hpp>
#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

namespace datum::sim {

/// Reads and writes fail, and never raise a signal, where the application has unmapped, protected or
/// truncated the memory meanwhile.
class HostRange {
 public:
  /// Memory of the caller. insufficient_permissions: some page of it cannot be accessed that way. Brings the
  /// pages in, as pinning does.
  static Result<HostRange> of_caller(std::span<std::byte> memory, board::DmaAccess access);
  /// A mapping of our own of [`offset`, `offset` + `bytes`) of a memfd or dma-buf; `fd` may be closed
  /// afterwards.
  static Result<HostRange> of_descriptor(int fd, std::uint64_t offset, std::uint64_t bytes,
                                         board::DmaAccess access);

  /// `memory` is a part of `whole`, a mapping that several ranges share. `stays`: nobody can shrink the file.
  static HostRange of_shared(std::shared_ptr<const Mapping> whole, std::span<std::byte> memory, bool stays);
  /// Memory of another process that is not mapped here: only its size is known.
  static HostRange of_elsewhere(std::uint64_t bytes);

  /// It can be neither read nor written here.
  [[nodiscard]] bool elsewhere() const noexcept { return memory_.data() == nullptr; }

  [[nodiscard]] std::uint64_t size_bytes() const noexcept { return memory_.size(); }

  /// Copies from or to `offset`; the range must hold it. Returns how many bytes were copied before the first
  /// that could not be.
  [[nodiscard]] std::uint64_t read(std::uint64_t offset, std::span<std::byte> to) const noexcept;
  /// A write of up to 64 bytes puts its first eight down last, so that who polls the first word sees the
  /// rest.
  [[nodiscard]] std::uint64_t write(std::uint64_t offset, std::span<const std::byte> from) const noexcept;

 private:
  HostRange(std::span<std::byte> memory, Mapping own, bool stays) noexcept
      : memory_(memory), own_(std::move(own)), stays_(stays) {}

  std::span<std::byte> memory_;
  Mapping own_;
  std::shared_ptr<const Mapping> shared_;
  bool stays_;  // nobody can take the pages away, so plain loads and stores will do
};

}  // namespace datum::sim
