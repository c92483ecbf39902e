// Files that a client hands over as memory for the board's DMA.
#pragma once

#include <cstdint>
#include <map>
#include <memory>
#include <utility>

#include <datum/base/mapping.hpp>
#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

#include "sim/host/host_range.hpp"

namespace datum::sim {

/// Each file is mapped as a whole and once, however many ranges of it are handed over: a virtual machine
/// hands over every page by itself, and the kernel counts mappings. Not thread-safe.
class FileMappings {
 public:
  /// [`offset`, `offset` + `bytes`) of `fd`, which may be closed afterwards. invalid_argument: no memory
  /// file (memfd, or a file in tmpfs or hugetlbfs), or shorter; insufficient_permissions: it was not opened
  /// for such access; out_of_host_memory.
  Result<HostRange> range(int fd, std::uint64_t offset, std::uint64_t bytes, board::DmaAccess access);

 private:
  /// A whole file.
  struct Whole {
    std::shared_ptr<const Mapping> mapping;
    bool writable = false;
    bool stays = false;
  };

  struct Known {
    std::weak_ptr<const Mapping> mapping;
    bool writable = false;
    bool stays = false;
  };

  Result<Whole> look_up(int fd, std::uint64_t needed_bytes);
  static Result<Whole> map_whole(int fd, std::uint64_t file_bytes, bool writable, bool stays);

  std::map<std::pair<std::uint64_t, std::uint64_t>, Known> files_;  // by device and inode
};

}  // namespace datum::sim
