// Datum's driver among those that the loader gives.
#pragma once

#include <cstdint>
#include <string>
#include <vector>

#include <datum/base/result.hpp>

#include "tools/datum/loader.hpp"

namespace datum::tool {

struct FoundDriver {
  ze_driver_handle_t handle = nullptr;
  std::vector<std::string> extensions;
};

/// Asks once for the number and once for the values. Empty where the call fails.
template <class Value, class Call>
std::vector<Value> all_of(const Call& call, const Value& blank) {
  std::uint32_t count = 0;
  if (call(&count, nullptr) != ZE_RESULT_SUCCESS || count == 0) {
    return {};
  }
  std::vector<Value> values(count, blank);
  if (call(&count, values.data()) != ZE_RESULT_SUCCESS) {
    return {};
  }
  values.resize(count, blank);
  return values;
}

/// Initialises the loader. Once in a process. not_available: it gives no driver of ours with a board.
[[nodiscard]] Result<FoundDriver> find_driver(const Loader& loader);

}  // namespace datum::tool
