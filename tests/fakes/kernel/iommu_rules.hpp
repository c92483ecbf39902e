// The kernel's rules for DMA mappings.
#pragma once

#include <cstdint>
#include <map>
#include <span>
#include <vector>

#include "tests/fakes/kernel/machine.hpp"

namespace datum::test {

/// One IOMMU address space: a container's, or an IOAS. Results are 0 or minus errno.
class IommuRules {
 public:
  enum class Flavour : std::uint8_t { type1, iommufd };

  IommuRules(Machine& machine, Flavour flavour) : machine_(machine), flavour_(flavour) {}

  IommuRules(const IommuRules&) = delete;
  IommuRules& operator=(const IommuRules&) = delete;
  ~IommuRules();

  /// The cards in this space see what is mapped already, and what will be.
  int attach(Slot& slot);
  void detach(const Slot& slot);

  /// `file_fd` -1: host memory of the process.
  int map(Iova iova, std::span<std::byte> host, board::DmaAccess access);
  /// `mapping`: of the kernel's own, kept until it is unmapped.
  int map_file(Iova iova, int fd, std::uint64_t offset, std::uint64_t bytes, board::DmaAccess access);
  /// `bytes` in: what to unmap; out: what was unmapped.
  int unmap(Iova iova, std::uint64_t& bytes);

  [[nodiscard]] std::uint32_t entries_left() const;

 private:
  struct Entry {
    std::span<std::byte> host;
    board::DmaAccess access;
    bool owned;  // mapped by map_file
  };

  [[nodiscard]] int check(Iova iova, std::uint64_t bytes) const;
  int add(Iova iova, std::span<std::byte> host, board::DmaAccess access, bool owned);
  void drop(std::map<std::uint64_t, Entry>::iterator entry);

  Machine& machine_;
  Flavour flavour_;
  std::map<std::uint64_t, Entry> entries_;
  std::vector<Slot*> attached_;
};

}  // namespace datum::test
