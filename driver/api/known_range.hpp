// Ranges whose allocation is known when a command is appended.
#pragma once

#include <cstdint>

#include <datum/base/result.hpp>

namespace datum {
class CommandList;
class Context;
}  // namespace datum

namespace datum::api {

/// invalid_argument: the pointer belongs to an allocation of Datum's that the range leaves, or to one of
/// another context than `context`. Memory that Datum does not know is judged when the command is submitted.
Status check_known_range(Context& context, const void* pointer, std::uint64_t bytes);
/// The same with the list's context.
Status check_known_range(CommandList& list, const void* pointer, std::uint64_t bytes);

}  // namespace datum::api
