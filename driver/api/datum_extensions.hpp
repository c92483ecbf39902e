// Datum's own extensions (<datum/ze_datum.h>): the board's clock and its registers.
#pragma once

#include <string_view>

namespace datum::api {

/// The function of that name among Datum's own extensions; null: none.
[[nodiscard]] void* find_datum_extension(std::string_view name) noexcept;

}  // namespace datum::api
