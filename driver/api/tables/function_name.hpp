// A string literal as a template argument.
#pragma once

#include <algorithm>
#include <cstddef>

namespace datum::api {

template <std::size_t Size>
struct FunctionName {
  constexpr FunctionName(
      const char (&literal)[Size]) {  // NOLINT(google-explicit-constructor): written as a literal
    std::copy_n(literal, Size, text);
  }

  char text[Size]{};
};

}  // namespace datum::api
