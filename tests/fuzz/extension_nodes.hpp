// A chain of extensions out of a fuzzer's bytes.
#pragma once

#include <cstddef>
#include <cstdint>
#include <memory>
#include <vector>

#include "tests/fuzz/input.hpp"

namespace datum::test {

/// Structures on the heap, each exactly as long as its type is, with anything in them, save that pointers are
/// null or lead to memory that is there. What is of an unknown type is a type and a pNext. Any of them may
/// follow any.
class ExtensionNodes {
 public:
  explicit ExtensionNodes(Input& input);

  [[nodiscard]] void* first() const noexcept { return first_; }

 private:
  struct Free {
    void operator()(std::byte* memory) const noexcept { std::free(memory); }
  };

  void add(Input& input);

  std::vector<std::unique_ptr<std::byte, Free>> nodes_;
  void* first_ = nullptr;
};

}  // namespace datum::test
