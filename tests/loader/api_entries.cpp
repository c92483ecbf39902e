#include "tests/loader/api_entries.hpp"

#include <limits>
#include <type_traits>

namespace datum::test {
namespace {

template <class Return, class... Arguments>
ze_result_t call_with_zeros(Return (*function)(Arguments...)) {
  const Return answer = function(Arguments{}...);
  if constexpr (std::is_same_v<Return, ze_result_t>) {
    return answer;
  } else if constexpr (std::is_pointer_v<Return>) {
    return answer == nullptr ? ZE_RESULT_ERROR_UNSUPPORTED_FEATURE : ZE_RESULT_SUCCESS;
  } else {
    return answer == std::numeric_limits<Return>::max() ? ZE_RESULT_ERROR_UNSUPPORTED_FEATURE
                                                        : ZE_RESULT_SUCCESS;
  }
}

constexpr ApiTable tables[] = {
#define DATUM_API_ENTRY(getter, type, member, function, since, built)
#define DATUM_API_TABLE(getter, type)                                                                        \
  {#getter, sizeof(type),                                                                                    \
   [](ze_api_version_t version, void* table) { return ::getter(version, static_cast<type*>(table)); }},
#include "tests/loader/entry_list.inc"
#undef DATUM_API_TABLE
#undef DATUM_API_ENTRY
};

constexpr ApiEntry entries[] = {
#define DATUM_API_TABLE(getter, type)
#define DATUM_API_ENTRY(getter, type, member, function, since, built)                                        \
  {#getter, #function, offsetof(type, member), since, built == 1, [](const void* table) {                    \
     return call_with_zeros(static_cast<const type*>(table)->member);                                        \
   }},
#include "tests/loader/entry_list.inc"
#undef DATUM_API_ENTRY
#undef DATUM_API_TABLE
};

}  // namespace

std::span<const ApiTable> api_tables() { return tables; }

std::span<const ApiEntry> api_entries() { return entries; }

}  // namespace datum::test
