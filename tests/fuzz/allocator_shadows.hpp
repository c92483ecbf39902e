// What the device heap and the registry must answer, kept the simplest way.
#pragma once

#include <map>
#include <vector>

#include "driver/memory/device_heap.hpp"
#include "driver/memory/registry.hpp"
#include "tests/fuzz/input.hpp"

namespace datum::test {

class HeapShadow {
 public:
  explicit HeapShadow(Input& input);

  void step();

 private:
  struct Page {
    bool taken = false;
    bool written = false;     ///< somebody has been its owner
    std::uint32_t owner = 0;  ///< 0: nobody
  };

  void allocate(std::uint64_t bytes);
  void free_one();
  void allocate_table();
  void free_table_page();
  void own();
  void check_foreign();
  [[nodiscard]] std::uint64_t free_pages() const;

  Input& input_;
  DeviceHeap::Options options_;
  DeviceHeap heap_;
  bool clean_;
  std::vector<Page> pages_;
  std::vector<std::vector<PageRun>> allocations_;
  std::vector<DeviceAddress> tables_;
};

class RegistryShadow {
 public:
  explicit RegistryShadow(Input& input) : input_(input) {}

  void step();

 private:
  [[nodiscard]] std::uintptr_t draw_address();
  [[nodiscard]] const Allocation* covering(std::uintptr_t address) const;
  void insert();
  void erase();
  void find(std::uintptr_t address) const;

  Input& input_;
  Registry registry_;
  std::map<std::uintptr_t, Allocation> live_;  ///< by first page
  std::uint64_t next_id_ = 1;
};

}  // namespace datum::test
