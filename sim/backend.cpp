#include "sim/backend.hpp"

#include <utility>

namespace datum::sim {

namespace {

std::vector<std::string> list_none() { return {}; }

Result<std::unique_ptr<board::PcieFunction>> open(std::string_view address) {
  auto function = open_simulated(address);
  if (!function) {
    return std::move(function).error();
  }
  return std::unique_ptr<board::PcieFunction>(std::move(function).value());
}

std::string diagnose(std::string_view address) {
  const auto function = open_simulated(address);
  if (function) {
    return {};
  }
  const auto& error = function.error();
  return error.hint.empty() ? error.message : error.message + " (" + error.hint + ")";
}

constexpr std::array<board::Backend, 2> table{{
    {"rtl", &list_none, &open, &diagnose},
    {"model", &list_none, &open, &diagnose},
}};

}  // namespace

Result<std::unique_ptr<SimFunction>> open_simulated(std::string_view address) {
  auto options = options_of_address(address);
  if (!options) {
    return std::move(options).error();
  }
  return SimFunction::create(std::string(address), *options);
}

const std::array<board::Backend, 2>& backends() noexcept { return table; }

}  // namespace datum::sim
