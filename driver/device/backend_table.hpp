// Board addresses ("rtl:seed=7", "vfio:0000:03:00.0") and who opens them.
#pragma once

#include <memory>
#include <string>
#include <string_view>
#include <vector>

#include <datum/base/result.hpp>
#include <datum/board/pcie_function.hpp>

namespace datum {

/// Opens `address` through the backend of its scheme. invalid_argument: no such scheme;
/// dependency_unavailable: the backend is not there, with what to do.
Result<std::unique_ptr<board::PcieFunction>> open_function(std::string_view address);

/// Whether a board address may begin with `scheme` ("rtl", without the colon).
[[nodiscard]] bool is_known_scheme(std::string_view scheme) noexcept;

/// invalid_argument, with the schemes that there are: `address` begins with none of them.
[[nodiscard]] Status check_scheme(std::string_view address);

/// Addresses of the boards that the driver uses without being asked: cards. Simulated boards are never among
/// them.
std::vector<std::string> default_boards();

/// Why `address` cannot be opened, for people; empty when it can.
std::string diagnose_board(std::string_view address);

}  // namespace datum
