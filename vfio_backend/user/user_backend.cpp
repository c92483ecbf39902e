#include "vfio_backend/user/user_backend.hpp"

#include <utility>

#include <fmt/format.h>

#include "vfio_backend/user/user_function.hpp"

namespace datum::vfio_user {

namespace {

std::vector<std::string> list_none() { return {}; }

Result<std::unique_ptr<board::PcieFunction>> open(std::string_view address) {
  auto function = UserFunction::open(address);
  if (!function) {
    return std::move(function).error();
  }
  return std::unique_ptr<board::PcieFunction>(std::move(function).value());
}

std::string diagnose(std::string_view address) {
  const auto function = UserFunction::open(address);
  if (function) {
    return {};
  }
  const Error& error = function.error();
  return error.hint.empty() ? error.message : fmt::format("{} ({})", error.message, error.hint);
}

constexpr board::Backend entry{"vfio-user", &list_none, &open, &diagnose};

}  // namespace

const board::Backend& backend() noexcept { return entry; }

}  // namespace datum::vfio_user
