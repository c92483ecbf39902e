#include "tests/support/result_text.hpp"

#include <array>
#include <cstdio>
#include <ostream>

namespace datum::test {
namespace {

struct Name {
  ze_result_t result;
  const char* text;
};

constexpr std::array names{
    Name{ZE_RESULT_SUCCESS, "SUCCESS"},
    Name{ZE_RESULT_NOT_READY, "NOT_READY"},
    Name{ZE_RESULT_ERROR_DEVICE_LOST, "DEVICE_LOST"},
    Name{ZE_RESULT_ERROR_OUT_OF_HOST_MEMORY, "OUT_OF_HOST_MEMORY"},
    Name{ZE_RESULT_ERROR_OUT_OF_DEVICE_MEMORY, "OUT_OF_DEVICE_MEMORY"},
    Name{ZE_RESULT_ERROR_INSUFFICIENT_PERMISSIONS, "INSUFFICIENT_PERMISSIONS"},
    Name{ZE_RESULT_ERROR_NOT_AVAILABLE, "NOT_AVAILABLE"},
    Name{ZE_RESULT_ERROR_DEPENDENCY_UNAVAILABLE, "DEPENDENCY_UNAVAILABLE"},
    Name{ZE_RESULT_ERROR_UNINITIALIZED, "UNINITIALIZED"},
    Name{ZE_RESULT_ERROR_UNSUPPORTED_VERSION, "UNSUPPORTED_VERSION"},
    Name{ZE_RESULT_ERROR_UNSUPPORTED_FEATURE, "UNSUPPORTED_FEATURE"},
    Name{ZE_RESULT_ERROR_INVALID_ARGUMENT, "INVALID_ARGUMENT"},
    Name{ZE_RESULT_ERROR_INVALID_NULL_HANDLE, "INVALID_NULL_HANDLE"},
    Name{ZE_RESULT_ERROR_HANDLE_OBJECT_IN_USE, "HANDLE_OBJECT_IN_USE"},
    Name{ZE_RESULT_ERROR_INVALID_NULL_POINTER, "INVALID_NULL_POINTER"},
    Name{ZE_RESULT_ERROR_INVALID_SIZE, "INVALID_SIZE"},
    Name{ZE_RESULT_ERROR_UNSUPPORTED_SIZE, "UNSUPPORTED_SIZE"},
    Name{ZE_RESULT_ERROR_UNSUPPORTED_ALIGNMENT, "UNSUPPORTED_ALIGNMENT"},
    Name{ZE_RESULT_ERROR_INVALID_SYNCHRONIZATION_OBJECT, "INVALID_SYNCHRONIZATION_OBJECT"},
    Name{ZE_RESULT_ERROR_INVALID_ENUMERATION, "INVALID_ENUMERATION"},
    Name{ZE_RESULT_ERROR_UNSUPPORTED_ENUMERATION, "UNSUPPORTED_ENUMERATION"},
    Name{ZE_RESULT_ERROR_INVALID_COMMAND_LIST_TYPE, "INVALID_COMMAND_LIST_TYPE"},
    Name{ZE_RESULT_ERROR_OVERLAPPING_REGIONS, "OVERLAPPING_REGIONS"},
    Name{ZE_RESULT_ERROR_UNKNOWN, "UNKNOWN"},
};

}  // namespace

std::string result_text(ze_result_t result) {
  for (const Name& name : names) {
    if (name.result == result) {
      return name.text;
    }
  }
  // Newer than some headers, so not in the table by name.
  if (static_cast<unsigned>(result) == 0x78000021U) {
    return "ADDRESS_NOT_FOUND";
  }
  std::array<char, 24> number{};
  std::snprintf(number.data(), number.size(), "0x%x", static_cast<unsigned>(result));
  return number.data();
}

}  // namespace datum::test

void PrintTo(const ze_result_t& result, std::ostream* out) { *out << datum::test::result_text(result); }
