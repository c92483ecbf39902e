// What an address of the scheme vfio-user asks for.
#pragma once

#include <string>
#include <string_view>

#include <datum/base/result.hpp>
#include <datum/base/unique_fd.hpp>

namespace datum::vfio_user {

/// The path in "vfio-user:PATH". invalid_argument: empty, or longer than a socket's name may be.
[[nodiscard]] Result<std::string> parse_server_address(std::string_view address);

/// Connects to the server at `path`. not_available: nobody listens there; insufficient_permissions: this user
/// may not, or the server is another user's: it would be given this process's memory.
[[nodiscard]] Result<UniqueFd> connect_to_server(const std::string& path);

}  // namespace datum::vfio_user
