// The tables and entries of the API as data that tests can iterate over.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <string_view>

#include <level_zero/ze_ddi_common.h>

namespace datum::test {

/// One of the functions that fill a table.
struct ApiTable {
  std::string_view getter;
  std::size_t bytes;  ///< of the table in the headers that the driver is built with
  ze_result_t (*fill)(ze_api_version_t version, void* table);
};

/// One pointer of a table.
struct ApiEntry {
  std::string_view getter;    ///< the function that fills its table
  std::string_view function;  ///< what the pointer leads to
  std::size_t offset;         ///< of the pointer in the table, in bytes
  std::uint32_t since_minor;  ///< the first version 1.x of the API whose table has it
  bool built;

  /// Calls the function with zeros as arguments. Its result code; ZE_RESULT_ERROR_UNSUPPORTED_FEATURE also
  /// for the null handle and the largest identifier, with which functions without a result code say that they
  /// failed.
  ze_result_t (*call)(const void* table);
};

std::span<const ApiTable> api_tables();
std::span<const ApiEntry> api_entries();

}  // namespace datum::test
