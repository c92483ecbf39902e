// Lists of board addresses, as DATUM_BOARDS holds them: "rtl:seed=7,memory=1G, vfio:0000:03:00.0".
#pragma once

#include <string>
#include <string_view>
#include <vector>

#include <datum/base/result.hpp>

namespace datum {

/// Whether a piece of a list, between its commas, begins an address: "rtl", "rtl:seed=7" and
/// "vfio:0000:03:00.0" do; "latency=10" and "step" go on with the one before.
[[nodiscard]] bool begins_board_address(std::string_view piece) noexcept;

/// invalid_argument: nothing stands before, between or behind commas. A list of blanks alone is good.
[[nodiscard]] Status check_board_list(std::string_view list);

/// The first address of a list, with its options; empty where there is none.
[[nodiscard]] std::string first_board_of(std::string_view list);

/// invalid_argument: as check_board_list, or an address begins with no scheme that there is.
[[nodiscard]] Status check_board_schemes(std::string_view list);

}  // namespace datum
