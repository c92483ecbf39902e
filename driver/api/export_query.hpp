// Descriptors of memory that was made for export, as queries give them.
#pragma once

#include <cstdint>

#include <level_zero/ze_api.h>

namespace datum {
class Context;
}  // namespace datum

namespace datum::api {

/// Answers the structures of `chain` that ask for a descriptor of the allocation or physical memory object
/// with that id. INVALID_ARGUMENT: it was not made for export, or not as that type. Without `write` it only
/// says what it would answer.
ze_result_t fill_exports(Context& context, std::uint64_t id, void* chain, bool write);

}  // namespace datum::api
