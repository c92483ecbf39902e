// Allocations as the trace shows them: from the call that made them to the call that freed them.
#pragma once

#include <cstdint>
#include <string_view>
#include <tuple>
#include <type_traits>

#include "driver/api/tables/function_name.hpp"
#include "driver/trace/trace.hpp"

namespace datum::api {

/// Kind of the memory that the function allocates; null for all others.
template <FunctionName Signature>
constexpr const char* allocated_kind() noexcept {
  constexpr std::string_view name(Signature.text);
  return name.starts_with("zeMemAllocDevice(")   ? "device memory"
         : name.starts_with("zeMemAllocHost(")   ? "host memory"
         : name.starts_with("zeMemAllocShared(") ? "shared memory"
                                                 : nullptr;
}

/// Of the arguments of an allocating function the first size_t is the size, the last the place of the
/// pointer.
template <FunctionName Signature, class... Arguments>
void note_allocation(const Arguments&... arguments) noexcept {
  if constexpr (allocated_kind<Signature>() != nullptr) {
    std::uint64_t bytes = 0;
    static_cast<void>((
        (std::is_same_v<Arguments, std::size_t> ? (bytes = trace::word_of(arguments), true) : false) || ...));
    void* const pointer = *std::get<sizeof...(Arguments) - 1>(std::tie(arguments...));
    trace::note(trace::Kind::allocation, allocated_kind<Signature>(), 0, 0, {trace::word_of(pointer), bytes});
  }
}

/// Noted before the call: afterwards another thread may have the address.
template <FunctionName Signature, class... Arguments>
void note_free(const Arguments&... arguments) noexcept {
  if constexpr (std::string_view(Signature.text).starts_with("zeMemFree")) {
    trace::note(trace::Kind::free, "free", 0, 0,
                {trace::word_of(std::get<sizeof...(Arguments) - 1>(std::tie(arguments...)))});
  }
}

}  // namespace datum::api
