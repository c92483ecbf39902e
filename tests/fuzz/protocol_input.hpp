// Messages of the vfio-user protocol out of a fuzzer's bytes: most of them make sense but for a field.
#pragma once

#include <cstddef>
#include <cstdint>
#include <span>
#include <vector>

#include <datum/base/unique_fd.hpp>

#include "tests/fuzz/input.hpp"
#include "vfio_user/messages.hpp"

namespace datum::test {

/// Two connected ends.
struct Connection {
  UniqueFd first;
  UniqueFd second;
};

[[nodiscard]] Connection make_connection();

/// The body of a command as a client may send it: sizes and addresses of which many fit together.
[[nodiscard]] std::vector<std::byte> draw_command_body(vfio_user::Command command, Input& input);

/// Some bytes are others, or it is longer or shorter.
void change_bytes(std::vector<std::byte>& bytes, Input& input);

/// A sealed memory file of `bytes`.
[[nodiscard]] UniqueFd make_file(std::size_t bytes);

}  // namespace datum::test
