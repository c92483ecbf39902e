// The calls of a PCIe function that can fail.
#pragma once

#include <cstddef>
#include <cstdint>
#include <string_view>

namespace datum::test {

enum class FunctionCall : std::uint8_t {
  bar,
  dma_map,
  dma_map_fd,
  dma_unmap,
  interrupt_fd,
  wait,
  reset,
  health,
  export_memory,
  end_export
};
inline constexpr std::size_t function_call_kinds = 10;

[[nodiscard]] constexpr std::string_view name_of(FunctionCall call) noexcept {
  switch (call) {
  case FunctionCall::bar:
    return "bar";
  case FunctionCall::dma_map:
    return "dma_map";
  case FunctionCall::dma_map_fd:
    return "dma_map_fd";
  case FunctionCall::dma_unmap:
    return "dma_unmap";
  case FunctionCall::interrupt_fd:
    return "interrupt_fd";
  case FunctionCall::wait:
    return "wait";
  case FunctionCall::reset:
    return "reset";
  case FunctionCall::health:
    return "health";
  case FunctionCall::export_memory:
    return "export_memory";
  case FunctionCall::end_export:
    return "end_export";
  }
  return {};
}

}  // namespace datum::test
