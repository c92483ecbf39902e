// Writing registers and fields by name.
#pragma once

#include <string>
#include <vector>

#include "tools/datum/open_board.hpp"
#include "tools/datum/register_names.hpp"

namespace datum::tool {

struct RegisterWrite {
  RegisterPlace place;
  const hw::FieldInfo* field = nullptr;  ///< null: the whole register
  std::uint64_t value = 0;               ///< of the field or register
};

/// "NAME=VALUE" or "NAME.FIELD=VALUE". invalid_argument: no such register, several, one that is only read, or
/// a value that is none.
[[nodiscard]] Result<RegisterWrite> parse_write(const std::string& text);

/// Of a field, the other fields keep what they read; those of registers that clear or set by a 1 get 0.
void carry_out(OpenBoard& board, const RegisterWrite& write);

}  // namespace datum::tool
