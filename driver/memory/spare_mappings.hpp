// A few mappings that a process keeps for the moment when the kernel gives it no more (vm.max_map_count).
#pragma once

#include <datum/base/mapping.hpp>

namespace datum {

/// Where the limit is reached, the kernel refuses even the calls that would take mappings away: then these
/// are let go first. Not thread safe.
class SpareMappings {
 public:
  /// False: the kernel has none to spare.
  bool keep() noexcept;
  void let_go() noexcept;

 private:
  Mapping area_;
  bool kept_ = false;
};

/// Lets the mappings go while it lives, and keeps some again afterwards if there are any.
class MappingRoom {
 public:
  explicit MappingRoom(SpareMappings& spare) noexcept : spare_(spare) { spare_.let_go(); }

  MappingRoom(const MappingRoom&) = delete;
  MappingRoom& operator=(const MappingRoom&) = delete;

  ~MappingRoom() { spare_.keep(); }

 private:
  SpareMappings& spare_;
};

}  // namespace datum
