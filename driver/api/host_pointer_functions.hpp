// Functions of GPU drivers that middleware finds by name and takes for granted.
#pragma once

#include <string_view>

namespace datum::api {

/// The address of zexDriverImportExternalPointer, zexDriverReleaseImportedPointer or
/// zexDriverGetHostPointerBaseAddress; null for another name.
[[nodiscard]] void* find_host_pointer_function(std::string_view name) noexcept;

}  // namespace datum::api
