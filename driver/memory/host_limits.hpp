// Which limit of process or system is behind a refusal of the kernel's, and what can be done about it.
#pragma once

#include <string>

#include <datum/base/result.hpp>

namespace datum {

/// `what` could not be had, and the kernel's word is `error`: out_of_host_memory, with the limit and the
/// cure.
[[nodiscard]] Error no_host_memory(std::string what, int error);

/// The limit of address space of this process, as text: its bytes, or that there is none.
[[nodiscard]] std::string address_space_limit();

}  // namespace datum
